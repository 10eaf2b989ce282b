package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.ModelFolder;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.ChatPrompt;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.chat.JsonValues;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.chat.Conversation;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.nio.file.Path;
import java.util.ArrayList;
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
    private static final String MESSAGES = "--messages";

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

    @Option(
            names = MESSAGES,
            paramLabel = "FILE",
            description =
                    "a conversation instead of a text, as JSON, a list of role and content: shows the prompt that the model's"
                            + " chat template makes of it, and its ids (--json: prompt, ids)")
    Path messages;

    @Option(names = "--tools", paramLabel = "FILE", description = "a JSON list of tools, for the template")
    Path tools;

    @Option(
            names = "--no-generation-prompt",
            description = "leave out the beginning of the answer that the template puts behind a conversation")
    boolean noGenerationPrompt;

    @Mixin
    ChatArguments chat;

    @Option(names = "--json", description = "print one JSON object: ids, pieces, text")
    boolean json;

    @Mixin
    CommonOptions common;

    TokenizeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        Path folder = new ModelCache(console).tokenizer(model);
        Tokenizer tokenizer = Tokenizer.load(folder);
        if (messages != null) {
            print(prompt(folder, tokenizer), tokenizer);
            return ExitCode.OK;
        }
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

    private void requireSensibleCall() {
        if (messages != null) {
            file.requireNoText("TEXT", text);
            if (text != null || file.path != null) {
                throw Failure.usage("a text and " + MESSAGES + " are given, expected one of them");
            }
        } else if (tools != null || noGenerationPrompt || chat.isGiven()) {
            throw Failure.usage("options of a conversation are given without " + MESSAGES);
        }
    }

    private ChatPrompt prompt(Path folder, Tokenizer tokenizer) {
        ChatTemplate template = chat.template().orElseGet(() -> ModelFolder.chatTemplateOf(folder));
        ChatOptions options = chat.options().withGenerationPrompt(!noGenerationPrompt);
        if (tools != null) {
            JsonNode list = Conversation.json(tools);
            if (!list.isArray()) {
                throw Failure.of(tools + " has no list of tools");
            }
            List<Object> values = new ArrayList<>();
            list.forEach(each -> values.add(JsonValues.of(each)));
            options = options.withTools(values);
        }
        return template.prompt(Conversation.read(messages), options, tokenizer);
    }

    private void print(ChatPrompt prompt, Tokenizer tokenizer) {
        if (json) {
            ObjectNode object = Json.object().put("prompt", prompt.text());
            object.set("ids", Json.array(prompt.ids()));
            console.out().println(object.toString());
        } else {
            console.out().println(prompt.text());
            console.out().print(table(prompt.ids(), tokenizer.pieces(prompt.ids())));
        }
    }

    private static String table(int[] ids, List<String> pieces) {
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < ids.length; i++) {
            table.append(String.format(Locale.ROOT, "%7d  %s%n", ids[i], pieces.get(i)));
        }
        return table.toString();
    }
}
