package io.github.tornadotransformers.runner.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What others have published about a released model: token ids, greedy continuations, logits. */
public final class PublishedFacts {
    private static final String RESOURCE = "published.json";

    /**
     * How one fact came out.
     *
     * @param fact what is said, and by whom
     * @param finding what was found instead; empty if it holds
     * @param nonFinite the first logit on the way that is NaN or infinite
     */
    public record Outcome(String fact, Optional<String> finding, Optional<String> nonFinite) {
        public boolean holds() {
            return finding.isEmpty();
        }
    }

    private final String model;
    private final List<Fact> facts;

    private PublishedFacts(String model, List<Fact> facts) {
        this.model = model;
        this.facts = facts;
    }

    /** The facts about the released model of this shape, if there are any. */
    public static Optional<PublishedFacts> about(ModelConfig config) {
        try (InputStream resource = PublishedFacts.class.getResourceAsStream(RESOURCE)) {
            return about(config, new ObjectMapper().readTree(resource));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Optional<PublishedFacts> about(ModelConfig config, JsonNode models) {
        for (JsonNode model : models) {
            if (model.get("vocabSize").intValue() == config.vocabSize()
                    && model.get("layers").intValue() == config.layers()) {
                List<Fact> facts = new ArrayList<>();
                model.get("facts").forEach(fact -> facts.add(Fact.parse(fact)));
                return Optional.of(new PublishedFacts(model.get("model").textValue(), facts));
            }
        }
        return Optional.empty();
    }

    public String model() {
        return model;
    }

    /** @throws CheckpointException if a fact needs a tokenizer and there is none */
    public List<Outcome> check(Optional<Tokenizer> tokenizer, ForwardPass forward) {
        return facts.stream().map(fact -> outcome(fact, tokenizer, forward)).toList();
    }

    private static Outcome outcome(Fact fact, Optional<Tokenizer> tokenizer, ForwardPass forward) {
        WatchedLogits logits = new WatchedLogits(forward);
        Optional<String> finding = fact.check(tokenizer, logits);
        return new Outcome(fact.describe(), finding, logits.nonFinite);
    }

    /** The logits of a forward pass, and the first of them that is not finite. */
    private static final class WatchedLogits {
        private final ForwardPass forward;
        private Optional<String> nonFinite = Optional.empty();

        WatchedLogits(ForwardPass forward) {
            this.forward = forward;
        }

        int vocabSize() {
            return forward.program().vocabSize();
        }

        /** After the last of the tokens. */
        float[] of(int[] tokens, int firstPosition) {
            float[] logits = forward.forward(tokens, firstPosition);
            for (int i = 0; i < vocabSize() && nonFinite.isEmpty(); i++) {
                if (!Float.isFinite(logits[i])) {
                    int position = firstPosition + tokens.length - 1;
                    nonFinite = Optional.of("logit " + i + " at position " + position + " is " + logits[i]);
                }
            }
            return logits;
        }
    }

    private sealed interface Fact {
        String describe();

        /** What was found instead, if the fact does not hold. */
        Optional<String> check(Optional<Tokenizer> tokenizer, WatchedLogits logits);

        static Fact parse(JsonNode fact) {
            String source = fact.get("source").textValue();
            return switch (fact.get("kind").textValue()) {
                case "tokens" -> new Tokens(fact.get("text").textValue(), ints(fact.get("ids")), source);
                case "greedy" -> new Greedy(Prompt.parse(fact), ints(fact.get("ids")), source);
                case "logits" ->
                    new LogitValues(
                            Prompt.parse(fact),
                            fact.get("position").intValue(),
                            ints(fact.get("at")),
                            doubles(fact.get("values")),
                            fact.get("tolerance").doubleValue(),
                            source);
                default -> throw new IllegalArgumentException("no such kind of fact: " + fact);
            };
        }
    }

    /** A text, or its ids. */
    private record Prompt(Optional<String> text, int[] ids) {
        static Prompt parse(JsonNode fact) {
            return fact.has("text")
                    ? new Prompt(Optional.of(fact.get("text").textValue()), new int[0])
                    : new Prompt(Optional.empty(), PublishedFacts.ints(fact.get("promptIds")));
        }

        int[] ids(Optional<Tokenizer> tokenizer) {
            return text.map(words -> required(tokenizer).encodePrompt(words)).orElse(ids);
        }

        @Override
        public String toString() {
            return text.map(words -> "\"" + words + "\"").orElse(Arrays.toString(ids));
        }
    }

    private record Tokens(String text, int[] ids, String source) implements Fact {
        @Override
        public String describe() {
            return "\"" + text + "\" is " + Arrays.toString(ids) + " (" + source + ")";
        }

        @Override
        public Optional<String> check(Optional<Tokenizer> tokenizer, WatchedLogits logits) {
            return difference(ids, required(tokenizer).encode(text));
        }
    }

    private record Greedy(Prompt prompt, int[] ids, String source) implements Fact {
        @Override
        public String describe() {
            return prompt + " goes on with " + Arrays.toString(ids) + " (" + source + ")";
        }

        @Override
        public Optional<String> check(Optional<Tokenizer> tokenizer, WatchedLogits logits) {
            int[] actual = new int[ids.length];
            int[] next = prompt.ids(tokenizer);
            int position = 0;
            for (int i = 0; i < ids.length; i++) {
                actual[i] = Logits.argmax(logits.of(next, position), logits.vocabSize());
                position += next.length;
                next = new int[] {actual[i]};
            }
            return difference(ids, actual);
        }
    }

    private record LogitValues(Prompt prompt, int position, int[] at, double[] values, double tolerance, String source)
            implements Fact {
        @Override
        public String describe() {
            return at.length + " logits of " + prompt + " at position " + position + " within " + tolerance + " ("
                    + source + ")";
        }

        @Override
        public Optional<String> check(Optional<Tokenizer> tokenizer, WatchedLogits logits) {
            float[] found = logits.of(Arrays.copyOf(prompt.ids(tokenizer), position + 1), 0);
            for (int i = 0; i < at.length; i++) {
                if (!(Math.abs(found[at[i]] - values[i]) <= tolerance)) {
                    return Optional.of(
                            String.format(Locale.ROOT, "logit %d is %s, not %s", at[i], found[at[i]], values[i]));
                }
            }
            return Optional.empty();
        }
    }

    private static Tokenizer required(Optional<Tokenizer> tokenizer) {
        return tokenizer.orElseThrow(
                () -> new CheckpointException("the model's folder has no tokenizer, which published texts need"));
    }

    private static Optional<String> difference(int[] expected, int[] actual) {
        return Arrays.equals(expected, actual) ? Optional.empty() : Optional.of("found " + Arrays.toString(actual));
    }

    private static int[] ints(JsonNode array) {
        return Arrays.stream(doubles(array)).mapToInt(value -> (int) value).toArray();
    }

    private static double[] doubles(JsonNode array) {
        double[] values = new double[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.get(i).doubleValue();
        }
        return values;
    }
}
