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
import java.util.regex.Pattern;

/**
 * Where the hub is and what it is told of the user. What is secret goes to this scheme, host and port alone, and into no
 * message: a user's name and password in {@code HF_ENDPOINT}, the token, and the queries of signed addresses.
 *
 * @param root ends in a slash and names no user
 * @param authorization the header's value
 * @param token where the token is from, if there is one
 */
record Endpoint(URI root, Optional<String> authorization, Optional<String> token) {
    private static final String VARIABLE = "HF_ENDPOINT";
    private static final String DEFAULT = "https://huggingface.co";
    private static final String HTTPS = "https";

    /** An address that lacks no more than its scheme. */
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._/-]*)?");

    private static final int HTTPS_PORT = 443;
    private static final int HTTP_PORT = 80;
    private static final int MAX_PORT = 65_535;

    /** @throws Failure naming the variable, if one cannot be used */
    static Endpoint of(Console console) {
        URI given = address(console.variable(VARIABLE).map(String::strip).orElse(DEFAULT));
        Optional<AccessToken> token = AccessToken.find(console);
        Optional<String> user = Optional.ofNullable(given.getUserInfo());
        return new Endpoint(
                withoutUser(given),
                token.map(each -> "Bearer " + each.value()).or(() -> user.map(Endpoint::basic)),
                token.map(AccessToken::origin));
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
        if (text.contains("@") || text.contains("?")) {
            return "";
        }
        String found = ", found " + Quoted.text(text);
        return HOST.matcher(text).matches() ? found + ": put https:// before it" : found;
    }

    private static URI withoutUser(URI uri) {
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        return URI.create(uri.getScheme().toLowerCase(Locale.ROOT) + "://" + uri.getHost() + port + uri.getRawPath());
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
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
