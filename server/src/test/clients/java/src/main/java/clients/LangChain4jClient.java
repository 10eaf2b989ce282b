package clients;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** LangChain4j asks the server at the address that is given: chat, a stream, two errors and a stream that is cut. */
final class LangChain4jClient {
    private static final ChatRequest HELLO =
            ChatRequest.builder().messages(UserMessage.from("hello")).build();
    private static final int PIECES = 5;

    private final String address;

    private LangChain4jClient(String address) {
        this.address = address + "/v1";
    }

    public static void main(String[] arguments) throws IOException {
        LangChain4jClient client = new LangChain4jClient(arguments[0]);
        Facts.say("chat", client.ask("small", 0.8));
        ChatResponse streamed = client.stream();
        Facts.say("stream", streamed.aiMessage().text());
        Facts.say("tokens", streamed.tokenUsage().outputTokenCount());
        Facts.refused("unknown", () -> client.ask("nothing", 0.8));
        Facts.refused("wrong", () -> client.ask("small", -1));
        client.cut();
        Facts.say("cancelled", true);
        Facts.waitForTheEnd();
    }

    private String ask(String model, double temperature) {
        return OpenAiChatModel.builder()
                .baseUrl(address)
                .apiKey("none")
                .modelName(model)
                .seed(11)
                .temperature(temperature)
                .maxTokens(20)
                .maxRetries(0)
                .build()
                .chat(HELLO)
                .aiMessage()
                .text();
    }

    private ChatResponse stream() {
        CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
        OpenAiStreamingChatModel.builder()
                .baseUrl(address)
                .apiKey("none")
                .modelName("small")
                .seed(11)
                .temperature(0.8)
                .maxTokens(20)
                .build()
                .chat(HELLO, new StreamingChatResponseHandler() {
                    @Override
                    public void onCompleteResponse(ChatResponse response) {
                        whole.complete(response);
                    }

                    @Override
                    public void onError(Throwable error) {
                        whole.completeExceptionally(error);
                    }
                });
        return whole.join();
    }

    private void cut() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        OpenAiStreamingChatModel.builder()
                .baseUrl(address)
                .apiKey("none")
                .modelName("endless")
                .temperature(0.0)
                .build()
                .chat(HELLO, new StreamingChatResponseHandler() {
                    private int pieces;

                    @Override
                    public void onPartialResponse(PartialResponse piece, PartialResponseContext context) {
                        if (++pieces == PIECES) {
                            context.streamingHandle().cancel();
                            done.complete(null);
                        }
                    }

                    @Override
                    public void onCompleteResponse(ChatResponse response) {
                        done.completeExceptionally(new IllegalStateException("the stream has ended by itself"));
                    }

                    @Override
                    public void onError(Throwable error) {
                        done.completeExceptionally(error);
                    }
                });
        done.join();
    }
}
