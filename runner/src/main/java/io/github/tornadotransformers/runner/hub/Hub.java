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
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The Hugging Face hub, or the mirror that {@code HF_ENDPOINT} names; the user's token is sent to it, and to no other host
 * that it redirects to.
 */
final class Hub {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MAX_REDIRECTS = 5;
    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;
    private static final int TOO_MANY = 429;
    private static final String LINKED_ETAG = "x-linked-etag";
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
     * @param etag of this version of the file, without quotation marks, or the time of its last change
     * @param sha256 of the whole file, where the hub tells it (it does for large ones), in lower-case hexadecimal
     * @param size of the whole file in bytes
     * @param offset of the first byte in {@code body}
     * @param commit that the file is of, where the hub tells it
     */
    record Content(
            InputStream body,
            Optional<String> etag,
            Optional<String> sha256,
            OptionalLong size,
            long offset,
            Optional<String> commit) {}

    /**
     * Begins to fetch a file.
     *
     * @param revision a commit, a branch or a tag
     * @param from how many bytes are here already; the answer may begin at 0 all the same
     * @return empty if the repository has no such file
     * @throws UnknownRepositoryException if there is no such repository
     * @throws Failure if it cannot be had, with the reason and what to do
     * @throws UnreachableException if there is no connection
     * @throws BusyException if the hub asks to come again
     * @throws IOException if the connection broke
     */
    Optional<Content> open(HubModel model, String revision, String file, long from) throws IOException {
        URI uri = endpoint.root().resolve(model.repository() + "/resolve/" + revision.replace("/", "%2F") + "/" + file);
        HttpResponse<InputStream> first = get(uri, from);
        HttpResponse<InputStream> last = first;
        Optional<String> commit = commit(first);
        for (int redirects = 0; isRedirect(last.statusCode()); redirects++) {
            if (redirects == MAX_REDIRECTS) {
                throw Failure.of(Endpoint.words(uri) + " redirects more than " + MAX_REDIRECTS + " times");
            }
            String location = last.headers().firstValue("location").orElse("");
            last.body().close();
            last = get(redirect(last.uri(), location), from);
            first = first.headers().firstValue(LINKED_ETAG).isPresent() ? first : last;
            commit = commit.isPresent() ? commit : commit(last);
        }
        return switch (last.statusCode()) {
            case 200 -> Optional.of(content(first, last, 0, commit));
            case 206 -> Optional.of(content(first, last, requireRange(last, from), commit));
            case 401, 403, 404 -> missing(model, revision, last);
            case 416 -> fromTheBeginning(model, revision, file, last);
            case 429, 503 -> throw busy(last);
            default -> throw failed(last);
        };
    }

    private static Optional<String> commit(HttpResponse<?> answer) {
        return answer.headers().firstValue("x-repo-commit").filter(Source::isCommit);
    }

    /** The first byte of an answer's range. */
    private static long requireRange(HttpResponse<InputStream> answer, long from) throws IOException {
        String range = answer.headers().firstValue("content-range").orElse("bytes " + from + "-");
        if (!range.startsWith("bytes " + from + "-")) {
            answer.body().close();
            throw new IOException(
                    "the answer begins elsewhere than it should: " + Quoted.text(range) + ", expected byte " + from);
        }
        return from;
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

    /** It may be willing later. */
    private BusyException busy(HttpResponse<InputStream> answer) throws IOException {
        answer.body().close();
        String message = answer.statusCode() == TOO_MANY
                ? endpoint.root().getHost() + " limits requests (HTTP " + TOO_MANY + ")"
                        + (endpoint.token().isPresent() ? "" : ", with a token (" + AccessToken.VARIABLE + ") less so")
                : "HTTP " + answer.statusCode() + " for " + Endpoint.words(answer.uri());
        return new BusyException(message, RetryAfter.of(answer.headers(), Instant.now()));
    }

    /** What is here is not a beginning of the file. */
    private Optional<Content> fromTheBeginning(
            HubModel model, String revision, String file, HttpResponse<InputStream> answer) throws IOException {
        answer.body().close();
        return open(model, revision, file, 0);
    }

    /** Where a code says what is missing, it is that; a mirror may send none. */
    private Optional<Content> missing(HubModel model, String revision, HttpResponse<InputStream> answer)
            throws IOException {
        answer.body().close();
        return switch (answer.headers().firstValue("x-error-code").orElse("")) {
            case "RepoNotFound" ->
                throw new UnknownRepositoryException(model.repository() + " is no repository of "
                        + endpoint.root().getHost() + " (HTTP " + answer.statusCode() + "), or a private one"
                        + (endpoint.token().isPresent()
                                ? " of another than the token's account"
                                : ", which needs " + AccessToken.VARIABLE));
            case "RevisionNotFound" ->
                throw Failure.of(model.repository() + " has no revision " + Quoted.text(revision)
                        + ": expected a branch, a tag or a commit of it");
            case "EntryNotFound" -> Optional.empty();
            default -> {
                if (answer.statusCode() != NOT_FOUND) {
                    throw refused(model, answer);
                }
                yield Optional.empty();
            }
        };
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
    private static Content content(
            HttpResponse<InputStream> first, HttpResponse<InputStream> last, long offset, Optional<String> commit) {
        Optional<String> etag = first.headers()
                .firstValue(LINKED_ETAG)
                .or(() -> last.headers().firstValue("etag"))
                .or(() -> last.headers().firstValue("last-modified")) // as good for telling versions apart
                .map(value -> value.replaceFirst("^W/", "").replace("\"", ""));
        OptionalLong linked = first.headers().firstValueAsLong("x-linked-size");
        OptionalLong length = last.headers().firstValueAsLong("content-length");
        OptionalLong size =
                linked.isPresent() || length.isEmpty() ? linked : OptionalLong.of(offset + length.getAsLong());
        return new Content(
                last.body(), etag, etag.filter(value -> value.matches("[0-9a-f]{64}")), size, offset, commit);
    }

    private Failure refused(HubModel model, HttpResponse<InputStream> answer) {
        String page = endpoint.root().resolve(model.repository()).toString();
        String status = " (HTTP " + answer.statusCode() + "): ";
        if (endpoint.token().isEmpty()) {
            return Failure.of(model.name() + " is refused without a token" + status + "accept its licence at " + page
                    + ", make a token there (settings, access tokens), and set " + AccessToken.VARIABLE + " to it");
        }
        String origin = " with the token in " + endpoint.token().get();
        return Failure.of(
                answer.statusCode() == UNAUTHORIZED
                        ? model.name() + " is refused" + origin + status + "the hub does not know this token; make"
                                + " another (settings, access tokens), and set " + AccessToken.VARIABLE + " to it"
                        : model.name() + " is refused" + origin + status + "accept its licence at " + page
                                + " with the token's account");
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
