/** The one script that a page with a chat needs: it makes `<yc-chat base=".">` and all cards known to it. */
import "./define.js";
import { YcChat } from "./chat.js";
import { YcChats } from "./chats.js";

if (!customElements.get("yc-chats")) customElements.define("yc-chats", YcChats);
if (!customElements.get("yc-chat")) customElements.define("yc-chat", YcChat);

export { YcChat, YcChats };
