package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.GenerationRequest;
import io.github.tornadotransformers.engine.LanguageModel;
import io.github.tornadotransformers.engine.ModelFolder;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.engine.Replay;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is answered to whom. */
class ProtocolTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";

    @TempDir
    private static Path folder;

    private static TestServer server;

    @BeforeAll
    static void start() {
        TestServer.model(folder, 5);
        server = TestServer.start(ServerSettings.DEFAULT, TestServer.served(TestServer.MODEL, folder));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static JsonNode ask(String path, String body) {
        HttpResponse<String> response = server.post(path, body.replace('\'', '"'));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return TestServer.json(response);
    }

    @Test
    void aCompletionIsWhatTheLibraryGenerates() {
        JsonNode answer = ask(
                COMPLETIONS,
                "{'model':'small','prompt':'hello wor','max_tokens':9,'seed':7,'temperature':0.8,'receipt':true}");
        GenerationResult alone;
        try (LanguageModel model = LanguageModel.load(folder, EngineSettings.of(EngineKind.SCALAR))) {
            alone = model.generate(GenerationRequest.of("hello wor")
                    .withMaxTokens(9)
                    .withSampling(new SamplingOptions(0.8, 0, 1, 0, 1, 7, false)));
        }
        JsonNode choice = answer.get("choices").get(0);
        assertThat(choice.get("text").textValue()).isEqualTo(alone.text().orElseThrow());
        assertThat(answer.get("object").textValue()).isEqualTo("text_completion");
        assertThat(choice.get("receipt").get("ids").toString().replaceAll("[\\[\\]]", ""))
                .isEqualTo(java.util.Arrays.toString(alone.ids()).replaceAll("[\\[\\] ]", ""));
        assertThat(answer.get("usage").get("prompt_tokens").intValue()).isEqualTo(alone.promptIds().length);
        assertThat(answer.get("usage").get("completion_tokens").intValue()).isEqualTo(alone.ids().length);
        assertThat(answer.get("system_fingerprint").textValue()).matches("contract-\\d+-[0-9a-f]{16}");
    }

    /** Every logit of every step, on the engine that defines what is right. */
    @Test
    void aReceiptHoldsOnTheScalarEngine() {
        JsonNode answer = ask(COMPLETIONS, "{'prompt':'hello wor','max_tokens':20,'seed':7,'receipt':true}");
        Receipt receipt = Receipt.parse(answer.get("choices").get(0).get("receipt"));
        assertThat(receipt.logits()).hasSize(20);
        ModelFolder model = ModelFolder.open(folder);
        try (EngineSession scalar = Engines.open(model.checkpoint(), EngineSettings.of(EngineKind.SCALAR))) {
            assertThat(Replay.difference(receipt, scalar, model.usableTokenizer()))
                    .isEmpty();
        }
    }

    @Test
    void aChatIsWhatTheTemplateMakesOfIt() {
        JsonNode chat = ask(
                CHAT,
                "{'messages':[{'role':'system','content':'be'},{'role':'user','content':[{'type':'text','text':'hel'},"
                        + "{'type':'text','text':'lo'}]}],'max_completion_tokens':6,'temperature':0}");
        JsonNode completion = ask(COMPLETIONS, "{'prompt':'s be u hello a ','max_tokens':6,'temperature':0}");
        assertThat(chat.get("object").textValue()).isEqualTo("chat.completion");
        JsonNode message = chat.get("choices").get(0).get("message");
        assertThat(message.get("role").textValue()).isEqualTo("assistant");
        assertThat(message.get("content"))
                .isEqualTo(completion.get("choices").get(0).get("text"));
        assertThat(chat.get("usage").get("prompt_tokens"))
                .isEqualTo(completion.get("usage").get("prompt_tokens"));
    }

    @Test
    void aStreamIsTheSameInPieces() {
        String body = "{'prompt':'hello','max_tokens':20,'seed':3,'n':2,'logprobs':1,'receipt':true%s}";
        JsonNode whole = ask(COMPLETIONS, body.formatted(""));
        HttpResponse<String> stream = server.post(
                COMPLETIONS,
                body.formatted(",'stream':true,'stream_options':{'include_usage':true}")
                        .replace('\'', '"'));
        assertThat(stream.headers().firstValue("content-type")).hasValue("text/event-stream; charset=utf-8");
        List<JsonNode> events = TestServer.events(stream.body());
        for (int i = 0; i < 2; i++) {
            int index = i;
            StringBuilder text = new StringBuilder();
            int tokens = 0;
            JsonNode last = null;
            for (JsonNode event : events) {
                for (JsonNode choice : event.get("choices")) {
                    if (choice.get("index").intValue() == index) {
                        text.append(choice.get("text").textValue());
                        tokens += choice.path("logprobs").path("tokens").size();
                        last = choice;
                    }
                }
            }
            JsonNode expected = whole.get("choices").get(i);
            assertThat(text.toString()).isEqualTo(expected.get("text").textValue());
            assertThat(tokens).isEqualTo(expected.get("logprobs").get("tokens").size());
            assertThat(last.get("finish_reason")).isEqualTo(expected.get("finish_reason"));
            assertThat(last.get("receipt").get("logits"))
                    .isEqualTo(expected.get("receipt").get("logits"));
        }
        JsonNode usage = events.getLast();
        assertThat(usage.get("choices")).isEmpty();
        assertThat(usage.get("usage").get("completion_tokens"))
                .isEqualTo(whole.get("usage").get("completion_tokens"));
    }

    @Test
    void aChatStreamsDeltas() {
        HttpResponse<String> stream = server.post(
                CHAT,
                "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":8,\"stream\":true,\"seed\":1}");
        List<JsonNode> events = TestServer.events(stream.body());
        assertThat(events.getFirst()
                        .get("choices")
                        .get(0)
                        .get("delta")
                        .get("role")
                        .textValue())
                .isEqualTo("assistant");
        assertThat(events).allMatch(event -> event.get("object").textValue().equals("chat.completion.chunk"));
        assertThat(events).noneMatch(event -> event.has("usage"));
        String text = String.join(
                "",
                events.stream()
                        .map(event -> event.get("choices")
                                .get(0)
                                .get("delta")
                                .path("content")
                                .asText(""))
                        .toList());
        JsonNode whole = ask(CHAT, "{'messages':[{'role':'user','content':'hello'}],'max_tokens':8,'seed':1}");
        assertThat(text)
                .isEqualTo(whole.get("choices")
                        .get(0)
                        .get("message")
                        .get("content")
                        .textValue());
    }

    @Test
    void choicesHaveSeedsOneAfterTheOther() {
        JsonNode three = ask(COMPLETIONS, "{'prompt':'hello','max_tokens':12,'n':3,'seed':10}");
        for (int i = 0; i < 3; i++) {
            JsonNode one = ask(COMPLETIONS, "{'prompt':'hello','max_tokens':12,'seed':" + (10 + i) + "}");
            assertThat(three.get("choices").get(i).get("text"))
                    .isEqualTo(one.get("choices").get(0).get("text"));
        }
        JsonNode prompts = ask(COMPLETIONS, "{'prompt':['hello',[65,66]],'max_tokens':3,'temperature':0,'echo':true}");
        assertThat(prompts.get("choices").get(0).get("text").textValue()).startsWith("hello");
        assertThat(prompts.get("choices").get(1).get("index").intValue()).isEqualTo(1);
    }

    @Test
    void biasesPenaltiesAndStopsCount() {
        JsonNode biased = ask(
                COMPLETIONS,
                "{'prompt':'hello','max_tokens':5,'temperature':0,'logit_bias':{'65':100},'receipt':true}");
        assertThat(biased.get("choices").get(0).get("receipt").get("ids").toString())
                .isEqualTo("[65,65,65,65,65]");
        JsonNode penalized = ask(
                COMPLETIONS,
                "{'prompt':'hello','max_tokens':8,'temperature':0,'logit_bias':{'65':30,'66':29},'frequency_penalty':2,"
                        + "'receipt':true}");
        assertThat(penalized.get("choices").get(0).get("receipt").get("ids").toString())
                .matches("\\[6[56](,6[56]){7}\\]")
                .contains("65")
                .contains("66");
        String text = biased.get("choices").get(0).get("text").textValue();
        JsonNode stopped = ask(
                COMPLETIONS,
                "{'prompt':'hello','max_tokens':5,'temperature':0,'logit_bias':{'65':100},'stop':['"
                        + text.substring(0, 2) + "']}");
        assertThat(stopped.get("choices").get(0).get("text").textValue()).isEmpty();
        assertThat(stopped.get("choices").get(0).get("finish_reason").textValue())
                .isEqualTo("stop");
        assertThat(biased.get("choices").get(0).get("finish_reason").textValue())
                .isEqualTo("length");
    }

    @Test
    void logprobsAreTheModels() {
        JsonNode answer = ask(
                CHAT,
                "{'messages':[{'role':'user','content':'hello'}],'max_tokens':4,'temperature':0,'logprobs':true,'top_logprobs':20}");
        JsonNode content = answer.get("choices").get(0).get("logprobs").get("content");
        assertThat(content).isNotEmpty();
        for (JsonNode token : content) {
            double sum = 0;
            double before = 0;
            for (JsonNode top : token.get("top_logprobs")) {
                assertThat(top.get("logprob").doubleValue()).isLessThanOrEqualTo(before);
                before = top.get("logprob").doubleValue();
                sum += Math.exp(before);
            }
            assertThat(sum).isLessThan(1).isPositive();
            assertThat(token.get("logprob").doubleValue())
                    .isCloseTo(token.get("top_logprobs").get(0).get("logprob").doubleValue(), within(0.0));
        }
    }

    @Test
    void aReceiptIsReplayed() {
        JsonNode answer = ask(
                COMPLETIONS,
                "{'prompt':'hello','max_tokens':9,'seed':4,'receipt':true,'frequency_penalty':0.5,'logit_bias':{'70':3}}");
        ObjectNode receipt = (ObjectNode) answer.get("choices").get(0).get("receipt");
        JsonNode equal = TestServer.json(server.post("/replay", receipt.toString()));
        assertThat(equal.get("equal").booleanValue()).as(equal.toString()).isTrue();
        assertThat(equal.get("steps").intValue())
                .isEqualTo(receipt.get("logits").size());
        ((com.fasterxml.jackson.databind.node.ArrayNode) receipt.get("logits")).set(3, "0000000000000000");
        JsonNode differs = TestServer.json(server.post("/replay", receipt.toString()));
        assertThat(differs.get("equal").booleanValue()).isFalse();
        assertThat(differs.get("difference").textValue()).startsWith("step 4 of ");
        HttpResponse<String> other = server.post(
                "/replay", receipt.put("model_sha256", "0".repeat(64)).toString());
        assertThat(other.statusCode()).isEqualTo(400);
        HttpRequest asked = server.request(COMPLETIONS)
                .header("X-Receipt", "true")
                .POST(HttpRequest.BodyPublishers.ofString("{\"prompt\":\"a\",\"max_tokens\":1}"))
                .build();
        assertThat(TestServer.json(server.send(asked)).get("choices").get(0).has("receipt"))
                .isTrue();
    }

    @Test
    void embeddingsAreMeansOfHiddenStates() {
        JsonNode both = ask("/v1/embeddings", "{'input':['hello','wor']}");
        JsonNode one = ask("/v1/embeddings", "{'input':'wor','encoding_format':'base64'}");
        assertThat(both.get("data")).hasSize(2);
        JsonNode vector = both.get("data").get(1).get("embedding");
        assertThat(vector).hasSize(24);
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder()
                        .decode(one.get("data").get(0).get("embedding").textValue()))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (JsonNode value : vector) {
            assertThat(bytes.getFloat()).isEqualTo(value.floatValue());
        }
        assertThat(both.get("data").get(0).get("embedding")).isNotEqualTo(vector);
    }

    @Test
    void textsAndIdsAreTurnedIntoEachOther() {
        JsonNode ids = ask("/tokenize", "{'prompt':'hello wor'}");
        JsonNode text = ask("/detokenize", "{'tokens':" + ids.get("tokens") + "}");
        assertThat(text.get("prompt").textValue()).isEqualTo("hello wor");
        JsonNode chat = ask("/tokenize", "{'messages':[{'role':'user','content':'hello'}]}");
        assertThat(chat.get("prompt").textValue()).isEqualTo("u hello a ");
        assertThat(chat.get("count").intValue()).isEqualTo(chat.get("tokens").size());
    }

    @Test
    void modelsHealthMetricsAndThePageAreThere() {
        JsonNode models = TestServer.json(server.get("/v1/models"));
        assertThat(models.get("data").get(0).get("id").textValue()).isEqualTo(TestServer.MODEL);
        assertThat(server.get("/v1/models/small").statusCode()).isEqualTo(200);
        assertThat(server.get("/v1/models/other").statusCode()).isEqualTo(404);
        ask(COMPLETIONS, "{'prompt':'hello','max_tokens':3}");
        assertThat(TestServer.json(server.get("/health")).get("ready").booleanValue())
                .isTrue();
        assertThat(server.get("/health/live").statusCode()).isEqualTo(200);
        String metrics = server.get("/metrics").body();
        assertThat(metrics)
                .containsPattern("transformers_generated_tokens_total\\{model=\"small\"\\} [1-9]")
                .contains("transformers_answers_open{model=\"small\"} 0.0")
                .contains("transformers_answers_running{model=\"small\"} 0.0")
                .containsPattern("transformers_answers_total\\{end=\"length\",model=\"small\"\\} [1-9]")
                .containsPattern("transformers_cache_pages\\{model=\"small\"\\} [1-9]")
                .containsPattern("transformers_cache_pages_used\\{model=\"small\"\\} [1-9]")
                .contains("transformers_cache_pages_shared{model=\"small\"} 0.0")
                .containsPattern("transformers_time_to_first_token_seconds_count\\{model=\"small\"\\} [1-9]")
                .containsPattern("transformers_requests_total\\{path=\"/v1/completions\",status=\"200\"\\} [1-9]");
        HttpResponse<String> page = server.get("/");
        assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
        assertThat(page.body()).startsWith("<!doctype html>");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "chat | {                                                                    | 400 | | the request is not valid JSON",
                "chat | ``                                                                   | 400 | | the request has no body",
                "chat | []                                                                   | 400 | | the request is [], expected a JSON object",
                "chat | {}                                                                   | 400 | messages | messages is missing",
                "chat | {'messages':[]}                                                      | 400 | messages | of which there is at least one",
                "chat | {'messages':[7]}                                                     | 400 | messages[0] | expected an object with a role",
                "chat | {'messages':[{'role':'user','content':7}]}                           | 400 | messages[0].content | expected a text",
                "chat | {'messages':[{'role':'user','content':[{'type':'image_url'}]}]}      | 400 | messages[0].content | expected parts that are text",
                "chat | {'messages':[{'role':'user','content':'x'}],'tools':[{}]}            | 400 | tools | not done by this server yet",
                "chat | {'messages':[{'role':'user','content':'x'}],'response_format':{'type':'json_object'}} | 400 | response_format | only text",
                "chat | {'messages':[{'role':'user','content':'x'}],'nosuch':1}              | 400 | nosuch | nosuch is not known",
                "chat | {'messages':[{'role':'user','content':'x'}],'model':'nosuch'}        | 404 | model | there is no model nosuch here: small",
                "chat | {'messages':[{'role':'user','content':'x'}],'top_logprobs':3}        | 400 | top_logprobs | without logprobs",
                "chat | {'messages':[{'role':'user','content':'x'}],'stream_options':{}}     | 400 | stream_options | without stream: true",
                "completions | {}                                                            | 400 | prompt | prompt is missing",
                "completions | {'prompt':7}                                                  | 400 | prompt | expected a text, token ids",
                "completions | {'prompt':[1.5]}                                              | 400 | prompt | expected token ids",
                "completions | {'prompt':[99999]}                                            | 400 | | prompt",
                "completions | {'prompt':'x','temperature':-1}                               | 400 | temperature | temperature is -1.0",
                "completions | {'prompt':'x','temperature':'hot'}                            | 400 | temperature | expected a number",
                "completions | {'prompt':'x','top_p':0}                                      | 400 | top_p | top_p is 0.0",
                "completions | {'prompt':'x','presence_penalty':3}                           | 400 | presence_penalty | expected -2.0 to 2.0",
                "completions | {'prompt':'x','logit_bias':{'x':1}}                           | 400 | logit_bias | token ids and numbers",
                "completions | {'prompt':'x','logit_bias':{'99999':1}}                       | 400 | | logit bias",
                "completions | {'prompt':'x','max_tokens':0}                                 | 400 | max_tokens | expected 1 to any more",
                "completions | {'prompt':'x','n':1000}                                       | 400 | n | expected 1 to 128",
                "completions | {'prompt':'x','seed':1.5}                                     | 400 | seed | expected a whole number",
                "completions | {'prompt':'x','stop':['']}                                    | 400 | stop | not empty",
                "completions | {'prompt':'x','best_of':2}                                    | 400 | best_of | n gives several answers",
                "completions | {'prompt':'x','suffix':'y'}                                   | 400 | suffix | suffix is not done",
            })
    void whatIsNotUnderstoodIsRefusedByItsName(String path, String body, int status, String param, String message) {
        HttpResponse<String> response = server.post(path.equals("chat") ? CHAT : COMPLETIONS, body.replace('\'', '"'));
        JsonNode error = TestServer.json(response).get("error");
        assertThat(error).as(response.body()).isNotNull();
        assertThat(error.get("message").textValue()).contains(message).doesNotContain("\n");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(error.get("type").textValue()).isEqualTo("invalid_request_error");
        if (param != null) {
            assertThat(error.get("param").textValue()).isEqualTo(param);
        }
    }

    @Test
    void whatChangesNoAnswerIsTaken() {
        String plain = "{'messages':[{'role':'user','content':'hello'}],'max_tokens':8,'seed':1%s}";
        JsonNode answer = ask(
                CHAT,
                plain.formatted(",'user':'u','metadata':{'a':'b'},'safety_identifier':'s','prompt_cache_key':'k',"
                        + "'prompt_cache_retention':'24h','service_tier':'auto','store':false,'tools':[],'tool_choice':'none',"
                        + "'parallel_tool_calls':true,'response_format':{'type':'text'},'modalities':['text'],'n':null,"
                        + "'stop':null,'logprobs':false,'logit_bias':{},'reasoning_effort':null"));
        assertThat(answer.get("choices"))
                .isEqualTo(ask(CHAT, plain.formatted("")).get("choices"));
    }

    @Test
    void aPromptThatDoesNotFitIsRefusedWithBothNumbers() {
        HttpResponse<String> response = server.post(COMPLETIONS, "{\"prompt\":\"" + "x".repeat(300) + "\"}");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(TestServer.json(response).get("error").get("message").textValue())
                .isEqualTo("the prompt has 300 tokens, but the context holds 200");
    }

    @Test
    void pathsMethodsAndSizesAreChecked() {
        assertThat(server.get("/nosuch").statusCode()).isEqualTo(404);
        assertThat(server.get(CHAT).statusCode()).isEqualTo(405);
        assertThat(server.post("/v1/models", "{}").statusCode()).isEqualTo(405);
        HttpResponse<String> large = server.post(COMPLETIONS, " ".repeat((8 << 20) + 1));
        assertThat(large.statusCode()).isEqualTo(413);
        assertThat(server.get("/health").statusCode()).isEqualTo(200);
    }

    @Test
    void aKeyIsAskedForWhereThereIsOne() {
        try (TestServer locked = TestServer.start(
                ServerSettings.DEFAULT.withApiKey("secret"), TestServer.served(TestServer.MODEL, folder))) {
            HttpResponse<String> without = locked.get("/v1/models");
            assertThat(without.statusCode()).isEqualTo(401);
            assertThat(TestServer.json(without).get("error").get("code").textValue())
                    .isEqualTo("invalid_api_key");
            for (String[] each :
                    new String[][] {{"Bearer secret", "200"}, {"Bearer wrong", "401"}, {"secret", "401"}}) {
                HttpResponse<String> response = locked.send(locked.request("/v1/models")
                        .header("Authorization", each[0])
                        .build());
                assertThat(response.statusCode()).isEqualTo(Integer.parseInt(each[1]));
            }
            assertThat(locked.get("/health/live").statusCode()).isEqualTo(200);
            assertThat(locked.get("/metrics").statusCode()).isEqualTo(401);
        }
    }

    @Test
    void originsAreClosedUnlessOneIsAllowed() {
        HttpResponse<String> closed = server.get("/v1/models");
        assertThat(closed.headers().map()).doesNotContainKey("access-control-allow-origin");
        assertThat(StreamSupport.stream(TestServer.json(closed).get("data").spliterator(), false))
                .hasSize(1);
    }

    @Test
    void aModelWithoutATokenizerTakesAndGivesIds() throws IOException {
        Path bare = Files.createDirectory(folder.resolve("bare"));
        TestServer.model(bare, 9);
        Files.delete(bare.resolve("tokenizer.json"));
        try (TestServer ids = TestServer.start(ServerSettings.DEFAULT, TestServer.served("bare", bare))) {
            HttpResponse<String> stream = ids.post(
                    COMPLETIONS,
                    "{\"prompt\":[1,2,3],\"max_tokens\":5,\"stream\":true,\"logprobs\":0,\"receipt\":true}");
            List<JsonNode> events = TestServer.events(stream.body());
            assertThat(events)
                    .filteredOn(event -> event.get("choices")
                                    .get(0)
                                    .path("logprobs")
                                    .path("tokens")
                                    .size()
                            == 1)
                    .hasSize(5);
            assertThat(events.getLast().get("choices").get(0).get("receipt").get("ids"))
                    .hasSize(5);
            HttpResponse<String> text = ids.post(COMPLETIONS, "{\"prompt\":\"a\"}");
            assertThat(text.statusCode()).isEqualTo(400);
            assertThat(text.body()).contains("has no tokenizer");
        }
    }
}
