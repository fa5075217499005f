/** Makes the cards' elements known to the page, with their look; one that the page has defined itself stays. */
import { YcAttach } from "./attach.js";
import { YcCard } from "./card.js";
import { YcChoose } from "./choose.js";
import { YcConfirm } from "./confirm.js";
import { YcConnect } from "./connect.js";
import { h } from "./dom.js";
import { YcForm } from "./form.js";
import { YcQuestions } from "./questions.js";
import { YcSecret } from "./secret.js";
import { YcUpload } from "./upload.js";
import { YcVisit } from "./visit.js";

const elements = {
  "yc-attach": YcAttach,
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

// before theme.css, and so before whatever a page sets after that
document.head.prepend(h("link", { rel: "stylesheet", href: new URL("attach.css", import.meta.url) }));

for (const [tag, element] of Object.entries(elements)) {
  if (!customElements.get(tag)) customElements.define(tag, element);
}

export { YcAttach, YcCard, YcChoose, YcConfirm, YcConnect, YcForm, YcQuestions, YcSecret, YcUpload, YcVisit };
