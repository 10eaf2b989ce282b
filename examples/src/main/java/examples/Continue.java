package examples;

import io.github.tornadotransformers.engine.LanguageModel;
import java.nio.file.Path;

/** Continues a text: {@code MODEL_FOLDER PROMPT}. */
public final class Continue {
    private Continue() {}

    public static void main(String[] arguments) {
        try (LanguageModel model = LanguageModel.load(Path.of(arguments[0]))) {
            System.out.println(model.generate(arguments[1]));
        }
    }
}
