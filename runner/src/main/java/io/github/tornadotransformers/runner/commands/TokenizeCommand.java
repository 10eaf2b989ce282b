package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what a tokenizer makes of a text. */
@Command(
        name = "tokenize",
        customSynopsis = "transformers tokenize [TEXT|-] [OPTION]...",
        description = "Show a text's token ids, their pieces, and the text that they decode to.",
        sortOptions = false)
final class TokenizeCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(
            arity = "0..1",
            paramLabel = "TEXT",
            description = "the text, in quotes; - or none: standard input, as it is")
    String text;

    @Mixin
    TextFile file;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a folder with a tokenizer's files, a name that `transformers models` lists, or OWNER/NAME of the"
                            + " hub (default: ${DEFAULT-VALUE})")
    String model = ShippedModels.LLAMA;

    @Option(names = "--json", description = "print one JSON object: ids, pieces, text")
    boolean json;

    @Mixin
    CommonOptions common;

    TokenizeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Tokenizer tokenizer = Tokenizer.load(new ModelCache(console).tokenizer(model));
        TextInput texts = new TextInput(console);
        String input = texts.given("TEXT", text, file).orElseGet(texts::standardInput);
        int[] ids = tokenizer.encode(input);
        List<String> pieces = tokenizer.pieces(ids);
        String decoded = tokenizer.decode(ids);
        if (json) {
            ObjectNode object = Json.object();
            object.set("ids", Json.array(ids));
            ArrayNode array = Json.array();
            pieces.forEach(array::add);
            object.set("pieces", array);
            console.out().println(object.put("text", decoded).toString());
        } else {
            console.out().print(table(ids, pieces));
            console.out()
                    .println(ids.length + " tokens; they decode to "
                            + (decoded.equals(input) ? "the same text" : "another text: \"" + decoded + "\""));
        }
        return ExitCode.OK;
    }

    private static String table(int[] ids, List<String> pieces) {
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < ids.length; i++) {
            table.append(String.format(Locale.ROOT, "%7d  %s%n", ids[i], pieces.get(i)));
        }
        return table.toString();
    }
}
