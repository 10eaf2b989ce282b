// npm's ai (Vercel's SDK) asks the server at the address that is given: chat, a stream, two errors and a stream that is cut.
import {createOpenAICompatible} from "@ai-sdk/openai-compatible";
import {generateText, streamText} from "ai";

const server = createOpenAICompatible({
  name: "local", baseURL: process.argv[2] + "/v1", apiKey: "none", includeUsage: true,
});
const say = fact => console.log(JSON.stringify(fact));
const fields = (model, others) => ({
  model: server(model), prompt: "hello", seed: 11, temperature: 0.8, maxOutputTokens: 20, maxRetries: 0, ...others,
});
const refused = async (name, model, others) => {
  try {
    await generateText(fields(model, others));
  } catch (e) {
    say({[name]: e.statusCode + " " + e.message});
  }
};

say({chat: (await generateText(fields("small"))).text});
const whole = streamText(fields("small"));
let text = "";
for await (const piece of whole.textStream) {
  text += piece;
}
say({stream: text});
say({tokens: (await whole.usage).outputTokens});
await refused("unknown", "nothing");
await refused("wrong", "small", {temperature: -1});
const cut = new AbortController();
const stream = streamText(fields("endless", {temperature: 0, maxOutputTokens: undefined, abortSignal: cut.signal}));
let pieces = 0;
for await (const _ of stream.textStream) {
  if (++pieces === 5) {
    cut.abort();
  }
}
say({cancelled: true});
process.stdin.resume();
