// AG-UI's own client, unmodified, against a server of ours: `node client.mjs SCENARIO URL`.
// Prints what the client knows at the end as JSON. Whatever the client has to complain about goes to stderr.

import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [scenario, url] = process.argv.slice(2);

/** A page that was just opened: it knows the thread's id and nothing else. */
function page(threadId = "thread-1") {
  const agent = new HttpAgent({ url, threadId, headers: { "X-User": "ada" } });
  agent.events = [];
  agent.subscribe({ onEvent: ({ event }) => void agent.events.push(event) });
  return agent;
}

let said = 0;
const say = (agent, text) => agent.addMessage({ id: `m${++said}`, role: "user", content: text });

/** Answers by the text of the question: what is not in the table is cancelled. */
function answers(agent, table) {
  const known = agent.pendingInterrupts.map((one) => {
    const payload = table[one.message];
    return [one.id, payload === undefined ? { status: "cancelled" } : { status: "resolved", payload }];
  });
  return buildResumeArray(agent.pendingInterrupts, Object.fromEntries(known));
}

const choose = (...labels) => ({ answers: labels.map((label) => ({ selected: [label] })) });

const scenarios = {
  async asks() {
    const agent = page();
    say(agent, "Paint it");
    await agent.runAgent();
    return agent;
  },

  async resumes() {
    const agent = await scenarios.asks();
    await agent.runAgent({ resume: answers(agent, { "Which wall?": choose("North"), "Which colour?": choose("Red") }) });
    return agent;
  },

  async resumesPartially() {
    const before = await scenarios.asks();
    const agent = page(); // a client that knows of no interrupt has none that it must answer
    const resume = answers(before, { "Which wall?": choose("North") }).filter((one) => one.status === "resolved");
    await agent.runAgent({ resume });
    return agent;
  },

  async resumesWrongly() {
    const agent = await scenarios.asks();
    await agent.runAgent({ resume: answers(agent, { "Which wall?": choose("North"), "Which colour?": choose("Green") }) });
    return agent;
  },

  async corrects() {
    const agent = await scenarios.resumesWrongly();
    await agent.runAgent({ resume: answers(agent, { "Which colour?": choose("Red") }) });
    return agent;
  },

  async cancels() {
    const agent = await scenarios.asks();
    await agent.runAgent({ resume: answers(agent, { "Which wall?": choose("South") }) });
    return agent;
  },

  async reloads() {
    const before = await scenarios.asks();
    const agent = page();
    await agent.runAgent();
    if (JSON.stringify(agent.pendingInterrupts) !== JSON.stringify(before.pendingInterrupts)) {
      throw new Error("The reloaded page has other interrupts.");
    }
    return agent;
  },

  async reloadsAndResumes() {
    const agent = await scenarios.reloads();
    await agent.runAgent({ resume: answers(agent, { "Which wall?": choose("North"), "Which colour?": choose("Red") }) });
    say(agent, "And the door");
    await agent.runAgent();
    return agent;
  },

  async fails() {
    const agent = page();
    say(agent, "Break");
    await agent.runAgent();
    return agent;
  },
};

const { messages, pendingInterrupts, events } = await scenarios[scenario]();
console.log(JSON.stringify({ messages, pendingInterrupts, events }));
