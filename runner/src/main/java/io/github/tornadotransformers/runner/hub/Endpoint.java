package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;

/**
 * Where the hub is and what it is told of the user. What is secret goes to this scheme, host and port alone, and into no
 * message: a user's name and password in {@code HF_ENDPOINT}, the token, and the queries of signed addresses.
 *
 * @param root ends in a slash and names no user
 * @param authorization the header's value
 * @param hasToken whether it is the token of {@code HF_TOKEN}
 */
record Endpoint(URI root, Optional<String> authorization, boolean hasToken) {
    private static final String VARIABLE = "HF_ENDPOINT";
    private static final String TOKEN = "HF_TOKEN";
    private static final String DEFAULT = "https://huggingface.co";
    private static final String HTTPS = "https";
    private static final int HTTPS_PORT = 443;
    private static final int HTTP_PORT = 80;
    private static final int MAX_PORT = 65_535;

    /** @throws Failure naming the variable, if one cannot be used */
    static Endpoint of(Console console) {
        URI given = address(console.variable(VARIABLE).map(String::strip).orElse(DEFAULT));
        Optional<String> token = console.variable(TOKEN).map(String::strip);
        token.ifPresent(Endpoint::requireHeaderText);
        Optional<String> user = Optional.ofNullable(given.getUserInfo());
        return new Endpoint(
                withoutUser(given),
                token.map(each -> "Bearer " + each).or(() -> user.map(Endpoint::basic)),
                token.isPresent());
    }

    private static URI address(String text) {
        try {
            URI uri = new URI(text.endsWith("/") ? text : text + "/");
            boolean known = uri.getScheme() != null
                    && (uri.getScheme().equalsIgnoreCase(HTTPS)
                            || uri.getScheme().equalsIgnoreCase("http"));
            if (known && uri.getHost() != null && uri.getPort() <= MAX_PORT && uri.getQuery() == null) {
                return uri;
            }
        } catch (URISyntaxException _) {
            // Its message holds the whole text, a password included.
        }
        throw Failure.of(VARIABLE + " is no address of a hub, expected one such as " + DEFAULT + hint(text));
    }

    /** What the most usual mistake looks like; nothing where the text may hold a password. */
    private static String hint(String text) {
        return text.contains("@") || text.contains("?") ? "" : ", found " + Quoted.text(text);
    }

    private static URI withoutUser(URI uri) {
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        return URI.create(uri.getScheme().toLowerCase(Locale.ROOT) + "://" + uri.getHost() + port + uri.getRawPath());
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
    }

    private static void requireHeaderText(String token) {
        if (!token.chars().allMatch(each -> each > ' ' && each < 0x7F)) {
            throw Failure.of(
                    TOKEN + " has a character that no token has, such as a space, a line's end or a letter with"
                            + " an accent: copy it again");
        }
    }

    /** What is sent to an address; empty for another scheme, host or port than the endpoint's. */
    Optional<String> authorizationFor(URI uri) {
        return origin(uri).equals(origin(root)) ? authorization : Optional.empty();
    }

    private static String origin(URI uri) {
        String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
        int port = uri.getPort() >= 0 ? uri.getPort() : scheme.equals(HTTPS) ? HTTPS_PORT : HTTP_PORT;
        return scheme + "://" + String.valueOf(uri.getHost()).toLowerCase(Locale.ROOT) + ":" + port;
    }

    /** An address as it may be printed: without user, password and query. */
    static String words(URI uri) {
        return hostWords(uri) + Quoted.line(uri.getRawPath() == null ? "" : uri.getRawPath());
    }

    /** Scheme, host and port as they may be printed. */
    static String hostWords(URI uri) {
        return Quoted.line(uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()));
    }
}
