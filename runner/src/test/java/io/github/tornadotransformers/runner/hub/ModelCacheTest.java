package io.github.tornadotransformers.runner.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Downloads from a server in this JVM. */
class ModelCacheTest {
    private static final String REVISION =
            KnownModel.named("gpt2").orElseThrow().revision();
    private static final String REPOSITORY = "/openai-community/gpt2/resolve/" + REVISION + "/";
    private static final String CONFIG = """
            {"model_type": "gpt2", "vocab_size": 61, "n_positions": 40, "n_embd": 24, "n_head": 3, "n_layer": 2}""";
    private static final Persistence QUICK =
            new Persistence(Persistence.DEFAULT.stall(), 3, Duration.ofMillis(1), Duration.ofMillis(2));
    /** A slow machine may look like a stall as often as it likes. */
    private static final Persistence IMPATIENT =
            new Persistence(Duration.ofMillis(200), Integer.MAX_VALUE, QUICK.firstPause(), QUICK.longestPause());

    @TempDir
    private Path cache;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private FakeHub hub;

    @BeforeEach
    void startServer() throws IOException {
        hub = new FakeHub();
        environment.put("TRANSFORMERS_CACHE", cache.toString());
        environment.put("HF_ENDPOINT", hub.address());
        environment.put("HF_HOME", cache.resolve("huggingface").toString());
        hub.put(REPOSITORY + "config.json", CONFIG);
        hub.put(REPOSITORY + "tokenizer.json", "{\"t\":1}");
        hub.put(REPOSITORY + "model.safetensors", "weights".repeat(50_000));
    }

    @AfterEach
    void stopServer() {
        hub.close();
    }

    @Test
    void fetchesWhatTheRepositoryHas() throws IOException {
        Path folder = checkpoint();
        assertThat(folder).isEqualTo(cache.resolve("gpt2"));
        assertThat(visibleFiles(folder)).containsExactly("config.json", "model.safetensors", "tokenizer.json");
        assertThat(folder.resolve("model.safetensors")).hasContent("weights".repeat(50_000));
    }

    @Test
    void fetchesOnce() {
        checkpoint();
        int requests = hub.requests().size();
        checkpoint();
        assertThat(hub.requests()).hasSize(requests);
    }

    @Test
    void fetchesOnlyTheTokenizerWhereThatIsEnough() throws IOException {
        Path folder = new ModelCache(console()).tokenizer("gpt2");
        assertThat(visibleFiles(folder)).containsExactly("config.json", "tokenizer.json");
    }

    @Test
    void fetchesVocabularyAndMergesWhereThereIsNoTokenizerJson() throws IOException {
        hub.remove(REPOSITORY + "tokenizer.json");
        hub.put(REPOSITORY + "vocab.json", "{}");
        hub.put(REPOSITORY + "merges.txt", "");
        assertThat(visibleFiles(checkpoint())).contains("vocab.json", "merges.txt");
    }

    @Test
    void fetchesTheShardsThatTheIndexNames() throws IOException {
        hub.remove(REPOSITORY + "model.safetensors");
        hub.put(
                REPOSITORY + "model.safetensors.index.json",
                "{\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\"}}");
        hub.put(REPOSITORY + "m-1.safetensors", "one");
        hub.put(REPOSITORY + "m-2.safetensors", "two");
        assertThat(visibleFiles(checkpoint())).contains("m-1.safetensors", "m-2.safetensors");
    }

    @Test
    void refusesAnIndexThatNamesAPath() {
        hub.put(REPOSITORY + "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"../../x.safetensors\"}}");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining(
                        "names \"../../x.safetensors\", expected the name of a safetensors file: it was thrown"
                                + " away");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"weight_map\":{\"a\":\"../../x.safetensors\"}}",
                "{\"weight_map\":{\"a\":7}}",
                "{\"weight_map\":{}}",
                "{}",
                "[]",
                "nonsense"
            })
    void anIndexThatIsNoneIsNotKept(String index) throws IOException {
        hub.put(REPOSITORY + "model.safetensors.index.json", index);
        assertThatThrownBy(this::checkpoint).hasMessageContaining(": it was thrown away");
        assertThat(cache.resolve("gpt2/model.safetensors.index.json")).doesNotExist();

        hub.remove(REPOSITORY + "model.safetensors.index.json");
        assertThat(visibleFiles(checkpoint())).contains("model.safetensors");
    }

    @Test
    void anIndexThatWasThereBeforeIsKeptAndAdviceGiven() throws IOException {
        Path index = Files.createDirectories(cache.resolve("gpt2")).resolve("model.safetensors.index.json");
        Files.writeString(index, "{\"weight_map\":{\"a\":7}}");
        Files.writeString(index.resolveSibling("config.json"), CONFIG);
        assertThatThrownBy(this::checkpoint)
                .hasMessageContaining(index
                        + " names 7, expected the name of a safetensors file: delete it, and it is fetched again");
        assertThat(index).exists();
    }

    @Test
    void aFileLargerThanAnyOfItsNameIsNotFetched() throws IOException {
        hub.put(REPOSITORY + "model.safetensors.index.json", " ".repeat((64 << 20) + 1));
        assertThatThrownBy(this::checkpoint)
                .hasMessageContaining(
                        "model.safetensors.index.json of gpt2 has 67.1 MB or more, expected at most 67.1 MB:"
                                + " it is not what its name says");
        try (Stream<Path> files = Files.list(cache.resolve("gpt2"))) {
            assertThat(files).noneMatch(file -> file.toString().contains("index"));
        }
    }

    @Test
    void fetchesWhatAnInterruptedAttemptLeftOut() throws IOException {
        Path folder = Files.createDirectory(cache.resolve("gpt2"));
        String byHand = CONFIG.replace("61", "67");
        Files.writeString(folder.resolve("config.json"), byHand);
        checkpoint();
        assertThat(folder.resolve("config.json")).hasContent(byHand);
        assertThat(folder.resolve("model.safetensors")).exists();
    }

    @Test
    void missingFileIsNamed() {
        hub.remove(REPOSITORY + "config.json");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith(
                        "config.json is not in the repository openai-community/gpt2 at " + REVISION + "; a checkpoint");
    }

    @Test
    void refusalWithoutTokenSaysHowToGetOne() {
        hub.answerAllWith(401);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("gpt2 is refused without a token (HTTP 401)")
                .hasMessageContaining("set HF_TOKEN to it");
    }

    @Test
    void refusalWithTokenSaysWhoseItIs() {
        environment.put("HF_TOKEN", "secret");
        hub.answerAllWith(403);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("gpt2 is refused with the token in HF_TOKEN (HTTP 403)")
                .hasMessageNotContaining("secret");
    }

    @Test
    void tokenGoesToTheHubAndToNoOtherHost() {
        environment.put("HF_TOKEN", "secret");
        hub.redirectToOtherHost(REPOSITORY + "model.safetensors");
        checkpoint();
        assertThat(hub.requests())
                .filteredOn(request -> request.path().startsWith(REPOSITORY))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.authorization()).isEqualTo("Bearer secret"));
        assertThat(hub.requests())
                .filteredOn(request -> request.path().startsWith("/elsewhere"))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.authorization()).isNull());
    }

    @Test
    void whiteSpaceAroundATokenIsNoPartOfIt() {
        environment.put("HF_TOKEN", " secret\r\n");
        checkpoint();
        assertThat(hub.requests().getFirst().authorization()).isEqualTo("Bearer secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hid\rden", "hid den", "hidd\u00e9n", "hid\u007fden"})
    void tokenThatIsNoneIsRefusedAndNotPrinted(String token) {
        environment.put("HF_TOKEN", token);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("HF_TOKEN has a character that no token has")
                .hasMessageNotContaining("hid");
        assertThat(hub.requests()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "huggingface.co",
                "localhost:80",
                "htp://x",
                "file:///tmp",
                "http://",
                "http://[",
                "http://a b",
                "http://a_b",
                "http://127.0.0.1:99999",
                "http://127.0.0.1/?a=b",
                "http://127.0.0.1/%zz"
            })
    void endpointThatIsNoneIsNamed(String endpoint) {
        environment.put("HF_ENDPOINT", endpoint);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith(
                        "HF_ENDPOINT is no address of a hub, expected one such as https://huggingface.co");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://user:hidden@127.0.0.1:1", "http://user:hidden@a b", "user:hidden@x", "http://x?t=hidden"
            })
    void passwordsOfAnEndpointAreNotPrinted(String endpoint) {
        environment.put("HF_ENDPOINT", endpoint);
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class).satisfies(ModelCacheTest::hidesWhatIsHidden);
    }

    /** Nor is it in a cause, which a stack trace would show. */
    private static void hidesWhatIsHidden(Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            assertThat(String.valueOf(each.getMessage())).doesNotContain("hidden");
        }
    }

    @Test
    void passwordOfAnEndpointIsSentThereAlone() {
        environment.put("HF_ENDPOINT", hub.address().replace("http://", "http://user:hidden@"));
        hub.redirectToOtherHost(REPOSITORY + "model.safetensors");
        checkpoint();
        assertThat(hub.requests().getFirst().authorization()).isEqualTo("Basic dXNlcjpoaWRkZW4=");
        assertThat(hub.requests())
                .filteredOn(request -> request.path().startsWith("/elsewhere"))
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.authorization()).isNull());
    }

    @ParameterizedTest
    @CsvSource({
        "https://hub.example, https://hub.example/file, true",
        "https://hub.example, https://HUB.example:443/file, true",
        "https://hub.example, http://hub.example/file, false",
        "https://hub.example, http://hub.example:443/file, false",
        "https://hub.example, https://hub.example:8443/file, false",
        "https://hub.example, https://cdn.hub.example/file, false",
        "http://hub.example:8080, http://hub.example:8080/file, true",
        "http://hub.example, http://hub.example:80/file, true"
    })
    void tokenIsForOneSchemeHostAndPort(String endpoint, String address, boolean sent) {
        environment.put("HF_ENDPOINT", endpoint);
        environment.put("HF_TOKEN", "secret");
        assertThat(Endpoint.of(console()).authorizationFor(URI.create(address)))
                .isEqualTo(sent ? Optional.of("Bearer secret") : Optional.empty());
    }

    @Test
    void queryOfASignedAddressIsNotPrinted() {
        hub.redirectToOtherHost(REPOSITORY + "model.safetensors");
        hub.failAlways(REPOSITORY + "model.safetensors");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("HTTP 503 for http://localhost:")
                .satisfies(ModelCacheTest::hidesWhatIsHidden);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("trying again")
                .doesNotContain("hidden");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ht tp://x/?s=hidden", "file:///etc/hidden", "", "http:hidden", "//\u001b[2Jhidden/"})
    void redirectToNoAddressIsRefused(String location) {
        hub.redirectTo(REPOSITORY + "config.json", location);
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class).satisfies(ModelCacheTest::hidesWhatIsHidden);
    }

    @Test
    void brokenConnectionIsContinuedWhereItBroke() {
        hub.cutOnce(REPOSITORY + "model.safetensors", 100_000);
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("weights".repeat(50_000));
        assertThat(hub.requests())
                .filteredOn(request -> request.path().endsWith("model.safetensors"))
                .extracting(FakeHub.Request::range)
                .containsExactly(null, "bytes=100000-");
    }

    @Test
    void connectionThatStallsIsContinued() {
        hub.stallOnce(REPOSITORY + "model.safetensors", 100_000);
        Console console = console();
        HubModel model = HubModel.parse("gpt2").orElseThrow();
        Download download = new Download(
                new Hub(console), console, model, REVISION, cache, "model.safetensors", IMPATIENT, Optional.empty());
        assertThat(download.run()).isTrue();
        assertThat(cache.resolve("model.safetensors")).hasContent("weights".repeat(50_000));
    }

    @Test
    void attemptsThatAdvanceDoNotCount() throws IOException {
        hub.cutAlways(REPOSITORY + "model.safetensors", 10_000);
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("weights".repeat(50_000));
        assertThat(hub.requests())
                .filteredOn(request -> request.path().endsWith("model.safetensors"))
                .hasSize(35);
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.endsWith(".part"));
    }

    @Test
    void attemptsThatBringNothingEndItAndTheNextRunContinues() {
        hub.cutOnce(REPOSITORY + "model.safetensors", 50_000);
        hub.cutAlways(REPOSITORY + "model.safetensors", 0);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith(
                        "model.safetensors of gpt2 did not come whole: 3 attempts in a row brought nothing (")
                .hasMessageContaining("run the command again, and it continues where it stopped");
        assertThat(cache.resolve("gpt2/model.safetensors")).doesNotExist();
        hub.cutAlways(REPOSITORY + "model.safetensors", Integer.MAX_VALUE);
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("weights".repeat(50_000));
        assertThat(hub.requests().getLast().range()).isEqualTo("bytes=50000-");
    }

    @Test
    void pausesGrowToAMinute() {
        assertThat(IntStream.range(0, 9).mapToObj(Persistence.DEFAULT::pause).map(Duration::toSeconds))
                .containsExactly(1L, 1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
    }

    @Test
    void whatIsWaitedForIsSaid() {
        hub.failOnce(REPOSITORY + "config.json");
        checkpoint();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains(
                        "config.json: HTTP 503 for " + hub.address() + REPOSITORY + "config.json; trying again in 1 s");
    }

    @Test
    void partOfAnotherVersionIsThrownAway() throws IOException {
        hub.cutOnce(REPOSITORY + "model.safetensors", 50_000);
        hub.cutAlways(REPOSITORY + "model.safetensors", 0);
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class);
        hub.cutAlways(REPOSITORY + "model.safetensors", Integer.MAX_VALUE);
        hub.put(REPOSITORY + "model.safetensors", "another".repeat(50_000));
        assertThat(checkpoint().resolve("model.safetensors")).hasContent("another".repeat(50_000));
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.endsWith(".part"));
    }

    /** A mirror need tell no ETag. */
    @Test
    void partOfAnotherVersionIsKnownByItsTimeOfChange() {
        hub.tellNoEtags();
        hub.changedAt("Mon, 30 Nov 2026 20:00:00 GMT");
        hub.cutOnce(REPOSITORY + "model.safetensors", 50_000);
        hub.cutAlways(REPOSITORY + "model.safetensors", 0);
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class);
        hub.cutAlways(REPOSITORY + "model.safetensors", Integer.MAX_VALUE);
        hub.put(REPOSITORY + "model.safetensors", "another".repeat(50_000));
        hub.changedAt("Mon, 30 Nov 2026 20:00:01 GMT");
        assertThat(checkpoint().resolve("model.safetensors"))
                .satisfies(file ->
                        assertThat(Files.readString(file)).startsWith("another").isEqualTo("another".repeat(50_000)));
    }

    @Test
    void wrongChecksumIsThrownAway() throws IOException {
        hub.corrupt(REPOSITORY + "model.safetensors");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("model.safetensors of gpt2 came with a wrong SHA-256 checksum, expected ");
        assertThat(allFiles(cache.resolve("gpt2"))).noneMatch(name -> name.contains("model.safetensors"));
    }

    @Test
    void unreachableHubSaysWhatToDoWithoutIt() {
        environment.put("HF_ENDPOINT", "http://127.0.0.1:1");
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageMatching(
                        "http://127\\.0\\.0\\.1:1 cannot be reached \\(.*\\); a checkpoint that is here already can be"
                                + " given as -m FOLDER, or its files be placed in .*gpt2");
    }

    @Test
    void anAnswerThatBeginsElsewhereIsNotAppended() {
        hub.cutOnce(REPOSITORY + "model.safetensors", 100_000);
        hub.shiftRanges(REPOSITORY + "model.safetensors");
        assertThatThrownBy(this::checkpoint)
                .hasMessageContaining("the answer begins elsewhere than it should: \"bytes 100001-349999/350000\"");
        assertThat(cache.resolve("gpt2/model.safetensors")).doesNotExist();
    }

    @Test
    void aLimitOnRequestsIsWaitedFor() {
        hub.refuseOnce(REPOSITORY + "config.json", 429, "Retry-After", "0");
        checkpoint();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("config.json: 127.0.0.1 limits requests (HTTP 429), with a token (HF_TOKEN) less so; trying"
                        + " again in 1 s");
    }

    @ParameterizedTest
    @CsvSource({
        "429, Retry-After, 290, 4 min 50 s",
        "429, RateLimit, '\"resolvers\";r=0;t=140', 2 min 20 s",
        "503, Retry-After, 7500, 2 h 5 min"
    })
    void aLimitThatHoldsForLongIsSaid(int code, String header, String value, String words) {
        hub.refuse(REPOSITORY, code, header, value);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageContaining("HTTP " + code)
                .hasMessageContaining(" and wants no other for " + words + ": run the command again then");
        assertThat(hub.requests()).hasSize(1);
    }

    @Test
    void aDateMayBeWaitedFor() {
        hub.refuse(REPOSITORY, 429, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT");
        assertThatThrownBy(this::checkpoint).hasMessageContaining(" and wants no other for ");
    }

    @Test
    void aTokenThatTheHubDoesNotKnow() {
        environment.put("HF_TOKEN", "secret");
        hub.answerAllWith(401);
        assertThatThrownBy(this::checkpoint)
                .hasMessageContaining(
                        "gpt2 is refused with the token in HF_TOKEN (HTTP 401): the hub does not know this token");
    }

    @Test
    void theTokenOfALoginIsUsed() throws IOException {
        Path file = Files.createDirectories(cache.resolve("huggingface")).resolve("token");
        Files.writeString(file, "of-the-file\n");
        checkpoint();
        assertThat(hub.requests().getFirst().authorization()).isEqualTo("Bearer of-the-file");
    }

    @Test
    void theVariableComesBeforeTheFile() throws IOException {
        environment.put(
                "HF_TOKEN_PATH",
                Files.writeString(cache.resolve("token"), "of-the-file").toString());
        environment.put("HF_TOKEN", "of-the-variable");
        checkpoint();
        assertThat(hub.requests().getFirst().authorization()).isEqualTo("Bearer of-the-variable");
    }

    @Test
    void theTokenOfALoginMayBeKeptBack() throws IOException {
        environment.put(
                "HF_TOKEN_PATH",
                Files.writeString(cache.resolve("token"), "of-the-file").toString());
        environment.put("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
        checkpoint();
        assertThat(hub.requests().getFirst().authorization()).isNull();
    }

    @Test
    void theFileOfATokenIsNamedWhereItHoldsNone() throws IOException {
        Path file = Files.writeString(cache.resolve("token"), "hid den");
        environment.put("HF_TOKEN_PATH", file.toString());
        assertThatThrownBy(this::checkpoint)
                .hasMessageStartingWith(file + " has a character that no token has")
                .hasMessageNotContaining("hid");
    }

    @ParameterizedTest
    @CsvSource({"HF_HUB_OFFLINE, 1", "HF_HUB_OFFLINE, True", "TRANSFORMERS_OFFLINE, yes"})
    void offlineNothingIsFetched(String variable, String value) {
        environment.put(variable, value);
        assertThatThrownBy(this::checkpoint)
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("gpt2 is not here (looked for it in " + cache.resolve("gpt2"))
                .hasMessageContaining(variable + " forbids to fetch it");
        assertThat(hub.requests()).isEmpty();
        environment.put(variable, "0");
        assertThat(checkpoint()).isDirectory();
    }

    @Test
    void anEndpointWithoutASchemeIsUnderstood() {
        environment.put("HF_ENDPOINT", "hf-mirror.example/hub");
        assertThatThrownBy(this::checkpoint)
                .hasMessageContaining("found \"hf-mirror.example/hub\": put https:// before it");
    }

    @Test
    void aFailureLeavesNothing() throws IOException {
        hub.remove(REPOSITORY + "config.json");
        assertThatThrownBy(this::checkpoint).isInstanceOf(Failure.class);
        assertThat(visibleFiles(cache)).isEmpty();
    }

    @Test
    void serverErrorIsTriedAgain() {
        hub.failOnce(REPOSITORY + "config.json");
        assertThat(checkpoint().resolve("config.json")).exists();
    }

    @Test
    void progressGoesToStderr() {
        checkpoint();
        assertThat(err.toString(StandardCharsets.UTF_8).lines())
                .anyMatch(line -> line.matches("model\\.safetensors +350\\.0 kB, [0-9.]+ .?B/s"));
    }

    private Path checkpoint() {
        return new ModelCache(console(), QUICK).checkpoint("gpt2");
    }

    private Console console() {
        return CommandRun.console(environment, "", new ByteArrayOutputStream(), err);
    }

    private static Stream<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
        }
    }

    private static Stream<String> visibleFiles(Path folder) throws IOException {
        return names(folder).filter(name -> !name.startsWith("."));
    }

    private static Stream<String> allFiles(Path folder) throws IOException {
        return names(folder);
    }
}
