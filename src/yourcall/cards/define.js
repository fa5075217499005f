/** Makes the cards' elements known to the page; one that the page has defined itself stays. */
import { YcCard } from "./card.js";
import { YcForm } from "./form.js";
import { YcQuestions } from "./questions.js";

for (const [tag, element] of Object.entries({ "yc-card": YcCard, "yc-form": YcForm, "yc-questions": YcQuestions })) {
  if (!customElements.get(tag)) customElements.define(tag, element);
}

export { YcCard, YcForm, YcQuestions };
