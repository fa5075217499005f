/** Makes the cards' elements known to the page; one that the page has defined itself stays. */
import { YcCard } from "./card.js";
import { YcChoose } from "./choose.js";
import { YcConfirm } from "./confirm.js";
import { YcConnect } from "./connect.js";
import { YcForm } from "./form.js";
import { YcQuestions } from "./questions.js";
import { YcSecret } from "./secret.js";
import { YcUpload } from "./upload.js";
import { YcVisit } from "./visit.js";

const elements = {
  "yc-card": YcCard,
  "yc-choose": YcChoose,
  "yc-confirm": YcConfirm,
  "yc-connect": YcConnect,
  "yc-form": YcForm,
  "yc-questions": YcQuestions,
  "yc-secret": YcSecret,
  "yc-upload": YcUpload,
  "yc-visit": YcVisit,
};

for (const [tag, element] of Object.entries(elements)) {
  if (!customElements.get(tag)) customElements.define(tag, element);
}

export { YcCard, YcChoose, YcConfirm, YcConnect, YcForm, YcQuestions, YcSecret, YcUpload, YcVisit };
