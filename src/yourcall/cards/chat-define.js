/** The one script of a page with a chat: `<script type="module" src="cards/chat-define.js">` and `<yc-chat base=".">`. */
import "./define.js";
import { YcChat } from "./chat.js";

if (!customElements.get("yc-chat")) customElements.define("yc-chat", YcChat);

export { YcChat };
