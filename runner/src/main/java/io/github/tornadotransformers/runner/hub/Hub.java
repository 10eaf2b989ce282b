package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The Hugging Face hub, or the mirror that {@code HF_ENDPOINT} names; {@code HF_TOKEN} is sent to it, and to no other host
 * that it redirects to.
 */
final class Hub {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MAX_REDIRECTS = 5;
    private static final Set<String> SCHEMES = Set.of("http", "https");

    private final Endpoint endpoint;
    private final HttpClient client;

    /** @throws Failure if a variable of the environment cannot be used */
    Hub(Console console) {
        endpoint = Endpoint.of(console);
        client = HttpClient.newBuilder()
                .connectTimeout(PATIENCE)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /**
     * What the hub sends for a file.
     *
     * @param etag of this version of the file, without quotation marks
     * @param sha256 of the whole file, where the hub tells it (it does for large ones), in lower-case hexadecimal
     * @param size of the whole file in bytes
     * @param offset of the first byte in {@code body}
     */
    record Content(InputStream body, Optional<String> etag, Optional<String> sha256, OptionalLong size, long offset) {}

    /**
     * Begins to fetch a file.
     *
     * @param from how many bytes are here already; the answer may begin at 0 all the same
     * @return empty if the repository has no such file
     * @throws Failure if it cannot be had, with the reason and what to do
     * @throws UnreachableException if there is no connection
     * @throws IOException if the connection broke
     */
    Optional<Content> open(KnownModel model, String file, long from) throws IOException {
        URI uri = endpoint.root().resolve(model.repository() + "/resolve/main/" + file);
        HttpResponse<InputStream> first = get(uri, from);
        HttpResponse<InputStream> last = first;
        for (int redirects = 0; isRedirect(last.statusCode()); redirects++) {
            if (redirects == MAX_REDIRECTS) {
                throw Failure.of(Endpoint.words(uri) + " redirects more than " + MAX_REDIRECTS + " times");
            }
            String location = last.headers().firstValue("location").orElse("");
            last.body().close();
            last = get(redirect(last.uri(), location), from);
            first = first.headers().firstValue("x-linked-etag").isPresent() ? first : last;
        }
        return switch (last.statusCode()) {
            case 200 -> Optional.of(content(first, last, 0));
            case 206 -> Optional.of(content(first, last, from));
            case 404 -> none(last);
            case 401, 403 -> throw refused(model, last);
            case 416 -> fromTheBeginning(model, file, last);
            case 429 ->
                throw Failure.of(endpoint.root().getHost() + " limits requests (HTTP 429): wait, or set HF_TOKEN");
            default -> throw failed(last);
        };
    }

    /** Where an answer leads. */
    private static URI redirect(URI from, String location) {
        try {
            URI to = from.resolve(new URI(location));
            if (to.getHost() != null && SCHEMES.contains(to.getScheme().toLowerCase(Locale.ROOT))) {
                return to;
            }
        } catch (URISyntaxException _) {
            // Its message holds the whole address, a signature included.
        }
        throw Failure.of(Endpoint.words(from) + " redirects to something that is no address of a file");
    }

    private static IOException failed(HttpResponse<InputStream> answer) throws IOException {
        answer.body().close();
        return new IOException("HTTP " + answer.statusCode() + " for " + Endpoint.words(answer.uri()));
    }

    /** What is here is not a beginning of the file. */
    private Optional<Content> fromTheBeginning(KnownModel model, String file, HttpResponse<InputStream> answer)
            throws IOException {
        answer.body().close();
        return open(model, file, 0);
    }

    private static Optional<Content> none(HttpResponse<InputStream> answer) throws IOException {
        answer.body().close();
        return Optional.empty();
    }

    private HttpResponse<InputStream> get(URI uri, long from) throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri).timeout(PATIENCE).header("User-Agent", "tornado-transformers");
        if (from > 0) {
            request.header("Range", "bytes=" + from + "-");
        }
        endpoint.authorizationFor(uri).ifPresent(value -> request.header("Authorization", value));
        try {
            return client.send(request.build(), BodyHandlers.ofInputStream());
        } catch (IOException e) {
            throw unreachable(uri, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static boolean isRedirect(int status) {
        return status >= 301 && status <= 308 && status != 304;
    }

    /** The first answer knows the file, the last one how much of it comes. */
    private static Content content(HttpResponse<InputStream> first, HttpResponse<InputStream> last, long offset) {
        Optional<String> etag = first.headers()
                .firstValue("x-linked-etag")
                .or(() -> last.headers().firstValue("etag"))
                .map(value -> value.replaceFirst("^W/", "").replace("\"", ""));
        OptionalLong linked = first.headers().firstValueAsLong("x-linked-size");
        OptionalLong length = last.headers().firstValueAsLong("content-length");
        OptionalLong size =
                linked.isPresent() || length.isEmpty() ? linked : OptionalLong.of(offset + length.getAsLong());
        return new Content(last.body(), etag, etag.filter(value -> value.matches("[0-9a-f]{64}")), size, offset);
    }

    private Failure refused(KnownModel model, HttpResponse<InputStream> answer) throws IOException {
        answer.body().close();
        String page = endpoint.root().resolve(model.repository()).toString();
        if (endpoint.hasToken()) {
            return Failure.of(model.name() + " is refused with the token in HF_TOKEN (HTTP " + answer.statusCode()
                    + "): accept its licence at " + page + " with the token's account");
        }
        return Failure.of(
                model.name() + " is refused without a token (HTTP " + answer.statusCode() + "): accept its licence at "
                        + page + ", make a token there (settings, access tokens), and set HF_TOKEN to it");
    }

    private static UnreachableException unreachable(URI uri, IOException cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String host = Endpoint.hostWords(uri);
        if (root instanceof ProtocolException) { // its message may hold a header, and so a signed address
            return new UnreachableException(host + " cannot be reached (what answers speaks no HTTP)", null);
        }
        String reason = root instanceof UnresolvedAddressException || root instanceof UnknownHostException
                ? "no such host"
                : root.getMessage() == null ? "no connection" : Quoted.line(root.getMessage());
        return new UnreachableException(host + " cannot be reached (" + reason + ")", cause);
    }
}
