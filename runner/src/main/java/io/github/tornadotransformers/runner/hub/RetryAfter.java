package io.github.tornadotransformers.runner.hub;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * For how long a server wants to be left alone.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9110#field.retry-after">RFC 9110, Retry-After</a>
 * @see <a href="https://huggingface.co/docs/hub/rate-limits">the hub's RateLimit header</a>
 */
final class RetryAfter {
    /** Digits of as many seconds as a number holds with ease. */
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,9}");

    /** As in {@code "resolvers";r=0;t=140}. */
    private static final Pattern RESET = Pattern.compile(";\\s*t=([0-9]{1,9})");

    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_HOUR = 60;

    private RetryAfter() {}

    /** Never negative; empty where no header says it. */
    static Optional<Duration> of(HttpHeaders headers, Instant now) {
        return headers.firstValue("retry-after")
                .flatMap(value -> parse(value.strip(), now))
                .or(() -> headers.firstValue("ratelimit").flatMap(RetryAfter::reset));
    }

    private static Optional<Duration> parse(String value, Instant now) {
        if (SECONDS.matcher(value).matches()) {
            return Optional.of(Duration.ofSeconds(Long.parseLong(value)));
        }
        try {
            Instant then = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return Optional.of(then.isBefore(now) ? Duration.ZERO : Duration.between(now, then));
        } catch (DateTimeParseException _) {
            return Optional.empty();
        }
    }

    private static Optional<Duration> reset(String value) {
        Matcher matcher = RESET.matcher(value);
        return matcher.find() ? Optional.of(Duration.ofSeconds(Long.parseLong(matcher.group(1)))) : Optional.empty();
    }

    /** As it is said: {@code 45 s}, {@code 2 min 20 s}, {@code 1 h 5 min}. */
    static String words(Duration duration) {
        long seconds = Math.max(1, duration.plusMillis(999).toSeconds());
        long minutes = seconds / SECONDS_PER_MINUTE;
        if (minutes >= MINUTES_PER_HOUR) {
            return String.format(Locale.ROOT, "%d h %d min", minutes / MINUTES_PER_HOUR, minutes % MINUTES_PER_HOUR);
        }
        return minutes == 0 ? seconds + " s" : minutes + " min " + seconds % SECONDS_PER_MINUTE + " s";
    }
}
