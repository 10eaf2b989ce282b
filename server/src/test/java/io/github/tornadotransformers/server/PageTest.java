package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page, in a browser, by clicks and keys. {@code -Dscreenshots=FOLDER} keeps what it looks like. */
@Timeout(300)
class PageTest {
    private static final String IDLE = "document.querySelector('#stop').disabled";
    private static final String ANSWERED = IDLE + " && document.querySelector('article.answer .receipt')";

    @TempDir
    private static Path folder;

    private static TestServer server;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        browser = Browser.start(folder.resolve("profile"));
        server = TestServer.start(
                ServerSettings.DEFAULT,
                TestServer.served(TestServer.MODEL, TestServer.model(folder.resolve("small"), 5)),
                TestServer.endless(folder.resolve("endless")));
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void open() {
        browser.show(1200, 800, false);
        browser.open(server.address());
        browser.await("document.querySelector('#model').options.length === 2");
    }

    private static void set(String field, String value) {
        browser.click("[data-field=" + field + "]");
        browser.type(value);
    }

    private static void send(String text) {
        browser.click("#message");
        browser.type(text);
        browser.click("#send");
    }

    private static JsonNode alone(String messages) {
        String body = "{\"model\":\"small\",\"messages\":" + messages
                + ",\"seed\":11,\"temperature\":0.8,\"top_k\":40,\"top_p\":0.9,\"max_tokens\":20}";
        return TestServer.json(server.post("/v1/chat/completions", body)).get("choices");
    }

    private static void settle() {
        set("seed", "11");
        set("temperature", "0.8");
        set("top_k", "40");
        set("top_p", "0.9");
        set("max_tokens", "20");
    }

    @Test
    void anAnswerIsWhatTheSettingsAskFor() {
        settle();
        browser.click("#system");
        browser.type("be");
        send("hello");
        browser.await(ANSWERED);
        String answer = browser.text("article.answer .text");
        assertThat(answer)
                .isEqualTo(alone("[{\"role\":\"system\",\"content\":\"be\"},{\"role\":\"user\",\"content\":\"hello\"}]")
                        .get(0)
                        .get("message")
                        .get("content")
                        .textValue());
        assertThat(browser.text("article.answer .facts"))
                .containsPattern("^\\d+ tokens, [\\d.]+ tokens/s, ended by its limit");
        assertThat(browser.text("#status")).startsWith("Answer: " + answer + " (");
        assertThat(browser.value("document.activeElement.id").textValue()).isEqualTo("message");
        send("more");
        browser.await("document.querySelectorAll('article.answer .receipt').length === 2");
        String conversation = TestServer.JSON
                .valueToTree(List.of(
                        Map.of("role", "system", "content", "be"),
                        Map.of("role", "user", "content", "hello"),
                        Map.of("role", "assistant", "content", answer),
                        Map.of("role", "user", "content", "more")))
                .toString();
        assertThat(browser.text("article:last-of-type .text"))
                .isEqualTo(
                        alone(conversation).get(0).get("message").get("content").textValue());
    }

    @Test
    void aReceiptIsShownOnDemandAndReplayed() throws IOException, InterruptedException {
        set("seed", "9007199254740995");
        set("max_tokens", "20");
        send("hello");
        browser.await(ANSWERED);
        assertThat(browser.value("document.querySelector('.receipt').open").booleanValue())
                .isFalse();
        browser.click(".receipt summary");
        assertThat(browser.value("document.querySelector('.receipt').open").booleanValue())
                .isTrue();
        JsonNode receipt = TestServer.json(browser.text(".receipt pre"));
        assertThat(receipt.get("seed").longValue()).isEqualTo(9007199254740995L);
        browser.click(".facts button");
        String verdict = ".facts [role=status]";
        browser.await("/bit for bit|parts|wrong/.test(document.querySelector('" + verdict + "').textContent)");
        assertThat(browser.text(verdict))
                .isEqualTo("equal, bit for bit, in all " + receipt.get("logits").size() + " steps");

        browser.value("void (window.sent = fetch, window.fetch = (to, how) => sent(to, {...how, body: how.body.replace("
                + "/\"logits\":\\[\"./, '\"logits\":[\"x')}))");
        browser.click(".facts button");
        browser.await("document.querySelector('" + verdict + "').textContent.startsWith('parts: ')");
        assertThat(browser.text(verdict)).contains("step 1");

        Path downloads = Files.createDirectory(folder.resolve("downloads"));
        browser.command(
                "Browser.setDownloadBehavior", Map.of("behavior", "allow", "downloadPath", downloads.toString()));
        browser.click(".receipt button:last-of-type");
        Path file = downloads.resolve("receipt.json");
        StormTest.await(() -> Files.exists(file));
        assertThat(TestServer.json(Files.readString(file))).isEqualTo(receipt);
    }

    @Test
    void anAnswerIsStoppedByTheButtonAndByEscape() throws InterruptedException {
        browser.value("void (document.querySelector('#model').value = 'endless')");
        set("temperature", "0");
        for (boolean click : new boolean[] {true, false}) {
            send("hello");
            browser.await("document.querySelector('article:last-of-type .text').textContent.length > 20");
            if (click) {
                browser.click("#stop");
            } else {
                browser.press(Browser.Key.ESCAPE);
            }
            browser.await(IDLE);
            assertThat(browser.text("article:last-of-type .facts")).endsWith(", stopped");
            assertThat(browser.value("document.activeElement.id").textValue()).isEqualTo("message");
            StormTest.await(() -> server.server.open() == 0);
        }
        send("once more");
        browser.await("document.querySelectorAll('article').length === 6");
        browser.click("#new");
        browser.await(IDLE);
        assertThat(browser.value("document.querySelectorAll('article').length").intValue())
                .isZero();
        StormTest.await(() -> server.server.open() == 0);
        assertThat(server.get("/metrics").body())
                .as("answers, none of which has come to its end")
                .contains("transformers_answers_total{end=\"cancelled\",model=\"endless\"}")
                .doesNotContain("transformers_answers_total{end=\"length\",model=\"endless\"}")
                .doesNotContain("transformers_answers_total{end=\"context\",model=\"endless\"}");
    }

    @Test
    void whatTheServerRefusesIsSaidInItsWordsAndTheQuestionIsBack() {
        set("temperature", "warm");
        send("hello");
        browser.await("document.querySelector('#error').textContent");
        assertThat(browser.text("#error")).isEqualTo("temperature is \"warm\", expected a number");
        assertThat(browser.value("document.querySelector('#message').value").textValue())
                .isEqualTo("hello");
        assertThat(browser.value("document.querySelectorAll('article').length").intValue())
                .isZero();
    }

    @Test
    void textIsNeverHtml() {
        String evil = "<img src=x onerror=\"document.title='taken'\"><b>bold</b>";
        set("max_tokens", "2");
        send(evil);
        browser.await(ANSWERED);
        assertThat(browser.text("article.question .text")).isEqualTo(evil);
        assertThat(browser.value("document.querySelectorAll('article img, article b').length")
                        .intValue())
                .isZero();
        assertThat(browser.value("document.title").textValue()).isEqualTo("tornado-transformers");
    }

    @Test
    void aKeyboardIsEnough() {
        List<String> reached = new ArrayList<>();
        browser.click("h1");
        for (int i = 0; !reached.contains("send") && i < 30; i++) {
            browser.press(Browser.Key.TAB);
            reached.add(browser.value("document.activeElement.id || document.activeElement.dataset.field"
                            + " || document.activeElement.localName")
                    .textValue());
        }
        assertThat(reached)
                .contains(
                        "new",
                        "summary",
                        "model",
                        "system",
                        "temperature",
                        "top_p",
                        "top_k",
                        "seed",
                        "max_tokens",
                        "key",
                        "talk",
                        "message",
                        "send");
        browser.value("document.querySelector('[data-field=max_tokens]').focus()");
        browser.type("3");
        browser.value("document.querySelector('#message').focus()");
        browser.type("one");
        browser.pressWithShift(Browser.Key.ENTER);
        browser.type("two");
        browser.press(Browser.Key.ENTER);
        browser.await(ANSWERED);
        assertThat(browser.text("article.question .text")).isEqualTo("one\ntwo");
        browser.value("document.querySelector('.facts button').focus()");
        browser.press(Browser.Key.SPACE);
        browser.await("document.querySelector('.facts [role=status]').textContent.startsWith('equal')");
        browser.press(Browser.Key.TAB);
        browser.press(Browser.Key.ENTER);
        assertThat(browser.value("document.querySelector('.receipt').open").booleanValue())
                .isTrue();
    }

    @Test
    void everythingHasANameForAScreenReader() {
        set("max_tokens", "3");
        send("hello");
        browser.await(ANSWERED);
        browser.click(".receipt summary");
        List<String> roles = new ArrayList<>();
        browser.command("Accessibility.getFullAXTree", Map.of()).get("nodes").forEach(node -> {
            boolean focusable = false;
            for (JsonNode property : node.path("properties")) {
                focusable |= property.get("name").textValue().equals("focusable")
                        && property.get("value").path("value").asBoolean();
            }
            if (focusable && !node.path("ignored").asBoolean()) {
                roles.add(node.path("role").path("value").asText());
                assertThat(node.path("name").path("value").asText())
                        .as(node.toString())
                        .isNotBlank();
            }
        });
        assertThat(roles).contains("combobox", "textbox", "button", "region");
    }

    @ParameterizedTest
    @CsvSource({"1200, 800, false", "1200, 800, true", "320, 640, false", "390, 800, true"})
    void textIsLegibleOnEveryScreen(int width, int height, boolean dark) {
        browser.show(width, height, dark);
        browser.open(server.address());
        browser.await("document.querySelector('#model').options.length === 2");
        browser.value("void (document.querySelector('[data-field=max_tokens]').value = 60)");
        send("What is a receipt?");
        browser.await(ANSWERED);
        browser.value("void (document.querySelector('#error').textContent = 'there is no model x here')");
        for (String selector : List.of("body", "h2", "label", "#error", "article.question .text", "#send", ".facts")) {
            assertThat(contrast(selector)).as(selector).isGreaterThanOrEqualTo(4.5);
        }
        browser.click(".facts button");
        browser.await("document.querySelector('.right')");
        assertThat(contrast(".right")).isGreaterThanOrEqualTo(4.5);
        screenshot(width, dark, "answer");
        browser.click(".receipt summary");
        browser.value("void (document.querySelector('#settings').open = true)");
        assertThat(contrast(".receipt pre")).isGreaterThanOrEqualTo(4.5);
        assertThat(browser.value("document.documentElement.scrollWidth").intValue())
                .isLessThanOrEqualTo(width);
        screenshot(width, dark, "open");
    }

    private static void screenshot(int width, boolean dark, String what) {
        String screenshots = System.getProperty("screenshots");
        if (screenshots != null) {
            browser.screenshot(Path.of(screenshots, width + (dark ? "-dark-" : "-light-") + what + ".png"));
        }
    }

    /** Of text and what is behind it, as WCAG 2 has it. */
    private static double contrast(String selector) {
        return browser.value("""
                (() => {
                  const light = colour => {
                    const [r, g, b] = colour.match(/[\\d.]+/g).map(part => part / 255)
                      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                  };
                  let behind = document.querySelector('%s');
                  const text = light(getComputedStyle(behind).color);
                  while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
                  const back = light(getComputedStyle(behind).backgroundColor);
                  return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
                })()""".formatted(selector)).doubleValue();
    }

    @Test
    void aKeyIsAskedForAndNotKept() {
        try (TestServer locked = TestServer.start(
                ServerSettings.DEFAULT.withApiKey("secret"),
                TestServer.served(TestServer.MODEL, folder.resolve("small")))) {
            browser.open(locked.address());
            browser.await("document.querySelector('#error').textContent");
            assertThat(browser.text("#error")).startsWith("the API key is missing or wrong");
            assertThat(browser.value("document.activeElement.id").textValue()).isEqualTo("key");
            browser.type("secret");
            set("max_tokens", "3");
            browser.await("document.querySelector('#model').options.length === 1");
            assertThat(browser.text("#error")).isEmpty();
            send("hello");
            browser.await(ANSWERED);
            assertThat(browser.value("localStorage.length + sessionStorage.length + document.cookie.length")
                            .intValue())
                    .isZero();
        }
    }

    @Test
    void thePageIsOneSmallFileThatAsksNobodyElse() {
        String page = server.get("/").body();
        assertThat(page.length()).isLessThan(40_000);
        assertThat(page).doesNotContain("http://", "https://", "innerHTML", "@import");
    }
}
