package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationResult;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** Answers lines in their order, many at a time: whoever is done before those in front waits. */
final class BatchRun {
    /** How often someone who waits for lines looks whether to end. */
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private final BatchLines lines;
    private final Scheduler scheduler;
    private final int window;
    private final Function<String, Asked> asked;
    private final Consumer<String> output;
    private final Deque<Slot> slots = new ArrayDeque<>();
    private long answers;
    private long errors;
    private long tokens;

    /**
     * What a line asks for.
     *
     * @param id null where the line has none
     * @param answer what is said of the result
     */
    record Asked(JsonNode id, Generation generation, Function<GenerationResult, ObjectNode> answer) {}

    /** A line and what becomes of it. */
    private record Slot(long number, JsonNode id, Optional<Asked> asked, String error) {
        boolean hasEnded() {
            return asked.isEmpty() || asked.get().generation.hasEnded();
        }
    }

    /**
     * @param window how many lines may be under way, those included that wait for others
     * @param asked makes a generation of a line, or throws what is wrong with it
     * @param output gets the answers
     */
    BatchRun(
            BatchLines lines, Scheduler scheduler, int window, Function<String, Asked> asked, Consumer<String> output) {
        this.lines = lines;
        this.scheduler = scheduler;
        this.window = window;
        this.asked = asked;
        this.output = output;
    }

    /** Runs until all lines have their answers, or someone wants no more of them. */
    void run(BooleanSupplier cancelled) {
        while (!cancelled.getAsBoolean() && !(lines.hasEnded() && slots.isEmpty())) {
            read();
            if (scheduler.size() > 0) {
                scheduler.step();
            }
            while (!slots.isEmpty() && slots.getFirst().hasEnded()) {
                answer(slots.removeFirst());
            }
        }
    }

    long answers() {
        return answers;
    }

    long errors() {
        return errors;
    }

    /** How many were generated. */
    long tokens() {
        return tokens;
    }

    private void read() {
        boolean idle = scheduler.size() == 0;
        while (slots.size() < window) {
            Optional<BatchLines.Line> line = lines.next(idle ? PATIENCE : Duration.ZERO);
            if (line.isEmpty()) {
                return;
            }
            idle = false;
            slots.add(slot(line.get()));
        }
    }

    private Slot slot(BatchLines.Line line) {
        if (line.text().isEmpty()) {
            return new Slot(line.number(), null, Optional.empty(), "the line is not UTF-8 text");
        }
        String text = line.text().get();
        try {
            Asked request = asked.apply(text);
            scheduler.add(request.generation);
            return new Slot(line.number(), request.id, Optional.of(request), "");
        } catch (InvalidRequest e) {
            return new Slot(line.number(), BatchRequest.idOf(text), Optional.empty(), message(e));
        }
    }

    private void answer(Slot slot) {
        ObjectNode object = Json.object();
        object.set("id", slot.id);
        try {
            if (slot.asked.isPresent()) {
                GenerationResult result = slot.asked.get().generation.result();
                tokens += result.ids().length;
                object.setAll(slot.asked.get().answer.apply(result));
            } else {
                fail(object, slot, slot.error);
            }
        } catch (TransformersException e) {
            fail(object, slot, message(e));
        }
        answers++;
        output.accept(object.toString());
    }

    private void fail(ObjectNode object, Slot slot, String error) {
        errors++;
        object.put("line", slot.number).put("error", error);
    }

    /** Speaks of a line's fields. */
    private static String message(TransformersException e) {
        return e.message(term -> term == Term.MAX_TOKENS
                ? "tokens"
                : OptionNames.of(term).replaceFirst("^--", "").replace('-', '_'));
    }
}
