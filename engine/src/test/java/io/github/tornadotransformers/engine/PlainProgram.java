package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.TransformersException;
import java.nio.file.Path;
import java.util.Locale;

/** What {@link PlainJavaTest} starts: prints a text of the model in the first argument, on the engine in the second. */
public final class PlainProgram {
    private PlainProgram() {}

    public static void main(String[] arguments) {
        EngineSettings settings = EngineSettings.of(EngineKind.valueOf(arguments[1].toUpperCase(Locale.ROOT)));
        try (LanguageModel model = LanguageModel.load(Path.of(arguments[0]), settings)) {
            System.out.println("text " + model.generate("hello"));
        } catch (TransformersException e) {
            System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
        }
    }
}
