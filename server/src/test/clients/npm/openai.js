// npm's openai asks the server at the address that is given: chat, a stream, two errors and a stream that is cut.
import OpenAI from "openai";

const client = new OpenAI({baseURL: process.argv[2] + "/v1", apiKey: "none", maxRetries: 0});
const say = fact => console.log(JSON.stringify(fact));
const ask = fields => client.chat.completions.create({
  model: "small", messages: [{role: "user", content: "hello"}], seed: 11, temperature: 0.8, max_tokens: 20, ...fields,
});
const refused = async (name, fields) => {
  try {
    await ask(fields);
  } catch (e) {
    say({[name]: e.status + " " + e.error.message});
  }
};

say({chat: (await ask({})).choices[0].message.content});
let text = "", tokens = 0;
for await (const chunk of await ask({stream: true, stream_options: {include_usage: true}})) {
  text += chunk.choices[0]?.delta?.content ?? "";
  tokens = chunk.usage?.completion_tokens ?? tokens;
}
say({stream: text});
say({tokens});
await refused("unknown", {model: "nothing"});
await refused("wrong", {temperature: -1});
const stream = await ask({model: "endless", temperature: 0, max_tokens: null, stream: true});
let pieces = 0;
for await (const _ of stream) {
  if (++pieces === 5) {
    stream.controller.abort();
    break;
  }
}
say({cancelled: true});
process.stdin.resume();
