package clients;

import java.io.IOException;
import java.util.List;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import reactor.core.publisher.Flux;

/** Spring AI asks the server at the address that is given: chat, a stream, two errors and a stream that is cut. */
final class SpringAiClient {
    private static final int PIECES = 5;

    private final String address;

    private SpringAiClient(String address) {
        this.address = address + "/v1";
    }

    public static void main(String[] arguments) throws IOException {
        SpringAiClient client = new SpringAiClient(arguments[0]);
        Facts.say("chat", text(client.model(client.options("small", 0.8, 20)).call(new Prompt("hello"))));
        List<ChatResponse> streamed = client.stream(client.options("small", 0.8, 20)
                        .streamOptions(OpenAiChatOptions.StreamOptions.builder().includeUsage(true).build()))
                .collectList()
                .block();
        Facts.say("stream", String.join("", streamed.stream().map(SpringAiClient::text).toList()));
        Facts.say("tokens", streamed.getLast().getMetadata().getUsage().getCompletionTokens());
        Facts.refused("unknown", () -> client.model(client.options("nothing", 0.8, 20)).call(new Prompt("hello")));
        Facts.refused("wrong", () -> client.model(client.options("small", -1, 20)).call(new Prompt("hello")));
        client.stream(client.options("endless", 0, 10_000)).take(PIECES).blockLast();
        Facts.say("cancelled", true);
        Facts.waitForTheEnd();
    }

    private OpenAiChatOptions.Builder options(String model, double temperature, int maxTokens) {
        return OpenAiChatOptions.builder()
                .baseUrl(address)
                .apiKey("none")
                .model(model)
                .temperature(temperature)
                .maxTokens(maxTokens)
                .seed(11)
                .maxRetries(0);
    }

    private OpenAiChatModel model(OpenAiChatOptions.Builder options) {
        return OpenAiChatModel.builder().options(options.build()).build();
    }

    private Flux<ChatResponse> stream(OpenAiChatOptions.Builder options) {
        return model(options).stream(new Prompt("hello"));
    }

    private static String text(ChatResponse response) {
        return response.getResults().isEmpty() || response.getResult().getOutput().getText() == null
                ? ""
                : response.getResult().getOutput().getText();
    }
}
