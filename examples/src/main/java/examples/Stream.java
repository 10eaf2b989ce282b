package examples;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.GenerationRequest;
import io.github.tornadotransformers.engine.LanguageModel;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Prints a text as it comes, up to the first empty line, on a chosen engine: {@code MODEL_FOLDER ENGINE PROMPT}. */
public final class Stream {
    private Stream() {}

    public static void main(String[] arguments) {
        try {
            run(Path.of(arguments[0]), EngineKind.valueOf(arguments[1].toUpperCase(Locale.ROOT)), arguments[2]);
        } catch (CheckpointException e) {
            System.err.println("Look at the model: " + e.getMessage());
        } catch (EngineException e) {
            System.err.println("Try another engine: " + e.getMessage());
        } catch (InvalidRequest e) {
            System.err.println("Ask for something else: " + e.getMessage());
        }
    }

    private static void run(Path folder, EngineKind engine, String prompt) {
        EngineSettings settings = EngineSettings.of(engine).withDType(DType.BF16).withContext(256);
        GenerationRequest request = GenerationRequest.of(prompt)
                .withMaxTokens(100)
                .withSampling(SamplingOptions.GREEDY)
                .withStopTexts(List.of("\n\n"));
        try (LanguageModel model = LanguageModel.load(folder, settings)) {
            GenerationResult result = model.generate(request, System.out::print);
            System.err.printf(
                    "%n%d tokens on %s, %.0f a second, ended by %s%n",
                    result.ids().length, model.engine(), result.decodeTokensPerSecond(), result.stopReason());
        }
    }
}
