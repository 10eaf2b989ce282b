package io.github.tornadotransformers.models.chat;

import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Keeps special tokens that the messages spell apart from those that the template writes. In the messages each gets a mark behind its first
 * character, one that is nowhere else in them; templates cut and join texts, and leave it where it is. What has a mark when it is rendered is
 * encoded as plain text, without it.
 */
final class SpelledTokens {
    /** Characters without meaning. */
    private static final int FIRST_PRIVATE = 0xE000;

    private static final int LAST_PRIVATE = 0xF8FF;

    private final Tokenizer tokenizer;
    private final Pattern special;
    private final String mark;

    SpelledTokens(Tokenizer tokenizer, List<ChatMessage> messages, ChatOptions options) {
        this.tokenizer = tokenizer;
        Set<String> texts = tokenizer.specialTexts();
        special = texts.isEmpty()
                ? Pattern.compile("(?!)")
                : Pattern.compile(texts.stream()
                        .sorted(Comparator.comparingInt(String::length).reversed())
                        .map(Pattern::quote)
                        .collect(Collectors.joining("|")));
        String all = messages + " " + options;
        mark = IntStream.rangeClosed(FIRST_PRIVATE, LAST_PRIVATE)
                .mapToObj(Character::toString)
                .filter(each -> !all.contains(each))
                .findFirst()
                .orElse("\uFFFF");
    }

    List<ChatMessage> marked(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> new ChatMessage(markedMap(message.fields())))
                .toList();
    }

    ChatOptions marked(ChatOptions options) {
        return new ChatOptions(
                options.generationPrompt(),
                options.tools().map(tools -> tools.stream().map(this::marked).toList()),
                markedMap(options.variables()));
    }

    private Map<String, Object> markedMap(Map<?, ?> map) {
        Map<String, Object> marked = new LinkedHashMap<>();
        map.forEach((key, value) -> marked.put(marked((String) key), marked(value)));
        return marked;
    }

    private Object marked(Object value) {
        return switch (value) {
            case String text -> marked(text);
            case Map<?, ?> map -> markedMap(map);
            case List<?> list -> {
                List<Object> marked = new ArrayList<>();
                list.forEach(each -> marked.add(marked(each)));
                yield marked;
            }
            case null, default -> value;
        };
    }

    private String marked(String text) {
        Matcher found = special.matcher(text);
        return found.find()
                ? found.replaceAll(token -> {
                    int first = Character.charCount(token.group().codePointAt(0));
                    return Matcher.quoteReplacement(token.group().substring(0, first)
                            + mark
                            + token.group().substring(first));
                })
                : text;
    }

    String unmarked(String rendered) {
        return rendered.replace(mark, "");
    }

    int[] ids(String rendered) {
        if (!rendered.contains(mark)) {
            return tokenizer.encodeWithSpecialTokens(rendered);
        }
        List<int[]> parts = new ArrayList<>();
        StringBuilder unmarkedSoFar = new StringBuilder();
        int from = 0;
        Matcher tokens = special.matcher(rendered);
        boolean more = true;
        while (more) {
            more = tokens.find();
            String text = rendered.substring(from, more ? tokens.start() : rendered.length());
            String token = more ? tokens.group() : "";
            if (text.contains(mark)) {
                addWithSpecial(unmarkedSoFar, parts);
                parts.add(plain(unmarked(text), parts.isEmpty()));
                unmarkedSoFar.append(token);
            } else {
                unmarkedSoFar.append(text).append(token);
            }
            from = more ? tokens.end() : from;
        }
        addWithSpecial(unmarkedSoFar, parts);
        return parts.stream().flatMapToInt(Arrays::stream).toArray();
    }

    private void addWithSpecial(StringBuilder text, List<int[]> parts) {
        if (!text.isEmpty()) {
            parts.add(tokenizer.encodeWithSpecialTokens(text.toString()));
            text.setLength(0);
        }
    }

    /** Some tokenizers put a space in front of a text's first word, and of no other; a newline takes it here. */
    private int[] plain(String text, boolean first) {
        if (!first && prefixesOnlyTheFirst()) {
            int[] newline = tokenizer.encode("\n");
            int[] after = tokenizer.encode("\n" + text);
            if (Arrays.mismatch(newline, after) == newline.length) {
                return Arrays.copyOfRange(after, newline.length, after.length);
            }
        }
        return tokenizer.encode(text);
    }

    private boolean prefixesOnlyTheFirst() {
        String token = tokenizer.specialTexts().iterator().next();
        int[] behind = tokenizer.encodeWithSpecialTokens(token + "a");
        return !Arrays.equals(tokenizer.encode("a"), Arrays.copyOfRange(behind, 1, Math.max(1, behind.length)));
    }
}
