package io.github.tornadotransformers.runner.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Guesses;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Times and rates as they are said, from times that are known. */
class GenerationReportTest {
    private static final long MILLI = 1_000_000;

    private static GenerationReport report(EngineSession.Compiled compiled) {
        EngineSession session = new EngineSession(
                null,
                Optional.empty(),
                EngineKind.TORNADO,
                "a device",
                DType.BF16,
                KvType.F32,
                7,
                () -> compiled,
                () -> {});
        GenerationResult result = new GenerationResult(
                new int[6],
                new int[4],
                Optional.of("text"),
                StopReason.LENGTH,
                0,
                6,
                2000 * MILLI,
                3,
                4000 * MILLI,
                Guesses.NONE);
        return GenerationReport.of("model", session, result, 1_234_567_890);
    }

    @Test
    void compilingIsOutOfTheRatesAndATimeOfItsOwn() {
        JsonNode json = report(new EngineSession.Compiled(12, 500 * MILLI)).toJson();
        assertEquals(4, json.get("prefill_tokens_per_s").doubleValue());
        assertEquals(0.75, json.get("decode_tokens_per_s").doubleValue());
        assertEquals(500, json.get("jit_ms").doubleValue());
        assertEquals(1234.568, json.get("load_ms").doubleValue());
    }

    @Test
    void whereNothingIsCompiledTheRatesAreThoseOfTheRun() {
        JsonNode json = report(EngineSession.Compiled.NOTHING).toJson();
        assertEquals(3, json.get("prefill_tokens_per_s").doubleValue());
        assertEquals(0, json.get("jit_ms").doubleValue());
    }
}
