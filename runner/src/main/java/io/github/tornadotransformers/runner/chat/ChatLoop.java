package io.github.tornadotransformers.runner.chat;

import io.github.tornadotransformers.engine.GenerationRequest;
import io.github.tornadotransformers.engine.LanguageModel;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.chat.ChatMessage;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.StopReason;
import io.github.tornadotransformers.runner.chat.ChatLines.LineCancelledException;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Progress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads questions and commands, and answers them, until the lines end. */
public final class ChatLoop {
    /** What begins and ends a message of several lines. */
    static final String BLOCK = "\"\"\"";

    private static final String CONTINUES = "\\";
    private static final String PROMPT = "> ";
    private static final String MORE = "… ";
    /** Of the context, which an answer has at least. */
    private static final int LEAST_SHARE = 8;

    /** Every command, with what it does. */
    private static final List<String[]> COMMANDS = List.of(
            new String[] {"/help", "this list"},
            new String[] {"/clear", "forget the conversation, but not the system's message"},
            new String[] {"/system TEXT", "set the system's message; without a text: take it away"},
            new String[] {"/save FILE", "write the conversation as JSON"},
            new String[] {"/load FILE", "go on with one that was saved"},
            new String[] {"/retry", "answer the last question again, with another seed"},
            new String[] {"/stats", "tokens and speed so far"},
            new String[] {"/exit", "end; so does Ctrl-D"});

    private final LanguageModel model;
    private final Console console;
    private final ChatLines lines;
    private final Conversation conversation = new Conversation();
    private ChatSettings settings;
    private Optional<GenerationResult> last = Optional.empty();
    private long answers;
    private long generated;
    private boolean interrupted;

    public ChatLoop(LanguageModel model, ChatSettings settings, ChatLines lines, Console console) {
        this.model = model;
        this.settings = settings;
        this.lines = lines;
        this.console = console;
    }

    /** The words that begin commands. */
    public static List<String> commands() {
        return COMMANDS.stream().map(each -> each[0].split(" ", 2)[0]).toList();
    }

    public Conversation conversation() {
        return conversation;
    }

    /** @return false if Ctrl-C has ended it */
    public boolean run() {
        boolean goesOn = true;
        while (goesOn && !interrupted) {
            try {
                Optional<String> line = message();
                goesOn = line.isPresent() && handle(line.get());
            } catch (LineCancelledException e) {
                say("/exit or Ctrl-D ends");
            } catch (Failure | InvalidRequest e) {
                say(e.getMessage());
            }
        }
        return !interrupted;
    }

    /** A line, or several: between two {@value #BLOCK}, or as long as each ends in a backslash. */
    private Optional<String> message() throws LineCancelledException {
        Optional<String> first = lines.next(PROMPT);
        if (first.isEmpty()) {
            return first;
        }
        String begun = first.get().strip();
        StringBuilder text = new StringBuilder();
        if (begun.startsWith(BLOCK)) {
            text.append(begun.substring(BLOCK.length()));
            while (!text.toString().stripTrailing().endsWith(BLOCK)) {
                Optional<String> next = lines.next(MORE);
                if (next.isEmpty()) {
                    return Optional.of(text.toString().strip());
                }
                text.append('\n').append(next.get());
            }
            String whole = text.toString().stripTrailing();
            return Optional.of(
                    whole.substring(0, whole.length() - BLOCK.length()).strip());
        }
        Optional<String> line = first;
        while (line.isPresent() && line.get().endsWith(CONTINUES)) {
            text.append(line.get(), 0, line.get().length() - CONTINUES.length()).append('\n');
            line = lines.next(MORE);
        }
        return Optional.of(text.append(line.orElse("")).toString().strip());
    }

    private boolean handle(String text) {
        if (text.startsWith("/")) {
            String[] parts = text.split("\\s+", 2);
            return command(parts[0], parts.length > 1 ? parts[1].strip() : "");
        }
        if (!text.isEmpty()) {
            ask(ChatMessage.user(text));
        }
        return true;
    }

    private boolean command(String name, String argument) {
        switch (name) {
            case "/help" -> COMMANDS.forEach(each -> say(String.format(Locale.ROOT, "%-14s %s", each[0], each[1])));
            case "/clear" -> {
                conversation.clear();
                say("the conversation begins again");
            }
            case "/system" -> {
                conversation.setSystem(argument);
                say(argument.isEmpty() ? "no system message" : "the system's message is set");
            }
            case "/save" -> {
                conversation.save(file(name, argument));
                say(argument + ": " + conversation.messages().size() + " messages");
            }
            case "/load" -> {
                conversation.load(file(name, argument));
                say(conversation.messages().size() + " messages are loaded");
            }
            case "/retry" -> retry();
            case "/stats" -> stats();
            case "/exit", "/quit", "/bye" -> {
                return false;
            }
            default ->
                say(name + " is no command: /help lists them; a message that begins with / stands between two "
                        + BLOCK);
        }
        return true;
    }

    private static Path file(String command, String argument) {
        if (argument.isEmpty()) {
            throw Failure.usage(command + " needs the name of a file");
        }
        return Path.of(argument);
    }

    private void retry() {
        Optional<ChatMessage> question = conversation.takeLastQuestion();
        if (question.isEmpty()) {
            say("there is no question to answer again");
            return;
        }
        SamplingOptions sampling = settings.sampling();
        if (sampling.deterministic()) {
            say("the likeliest tokens are always the same: start with a --temperature for other answers");
        } else {
            settings = new ChatSettings(
                    settings.template(), settings.options(), sampling.withSeed(sampling.seed() + 1), settings.tokens());
            say("seed " + settings.sampling().seed());
        }
        ask(question.get());
    }

    private void ask(ChatMessage question) {
        conversation.add(question);
        try {
            answer();
        } catch (TransformersException e) {
            conversation.takeLastQuestion();
            throw e;
        }
    }

    private void answer() {
        int prompt = fit();
        int room = model.contextLength() - prompt + 1;
        int tokens = Math.min(room, settings.tokens().orElse(room));
        GenerationRequest request = GenerationRequest.ofChat(
                        conversation.messages(), settings.options(), settings.template())
                .withSampling(settings.sampling())
                .withMaxTokens(tokens);
        GenerationResult result;
        try (Listening listening = new Listening(prompt)) {
            result = model.generate(request, listening);
        }
        console.out().print("\n");
        String text = result.text().orElse("");
        conversation.add(ChatMessage.assistant(text));
        last = Optional.of(result);
        answers++;
        generated += result.ids().length;
        tellEnd(result.stopReason(), result.ids().length);
    }

    private void tellEnd(StopReason reason, int tokens) {
        switch (reason) {
            case CANCELLED -> {
                say("stopped after " + tokens + " tokens");
                interrupted = lines.endsOnInterrupt();
            }
            case CONTEXT ->
                say("the context is full: ask on, and the oldest turns are forgotten; --context makes room for more");
            case LENGTH -> {
                if (settings.tokens().isPresent() && settings.tokens().getAsInt() == tokens) {
                    say("stopped after " + tokens + " tokens: ask it to go on, or start with a larger -n");
                } else {
                    tellEnd(StopReason.CONTEXT, tokens);
                }
            }
            case EOS, STOP -> {
                // The answer is whole.
            }
        }
    }

    /**
     * Forgets the oldest turns until the rest fits, with room for an answer.
     *
     * @return the tokens of what is left
     */
    private int fit() {
        int context = model.contextLength();
        int answer = Math.min(settings.tokens().orElse(Integer.MAX_VALUE), Math.max(1, context / LEAST_SHARE));
        int dropped = 0;
        int tokens = tokens();
        while (tokens + answer > context && conversation.dropOldestTurn()) {
            dropped++;
            tokens = tokens();
        }
        if (dropped > 0) {
            say("the oldest " + (dropped == 1 ? "turn is" : dropped + " turns are") + " forgotten: the context holds "
                    + context + " tokens (--context)");
        }
        if (tokens > context) {
            throw new InvalidRequest("the message is too long: with it there are " + tokens
                    + " tokens, but the context holds " + context + " (--context)");
        }
        return tokens;
    }

    private int tokens() {
        return settings.template()
                .prompt(
                        conversation.messages(),
                        settings.options(),
                        model.folder().tokenizer())
                .ids()
                .length;
    }

    private void stats() {
        if (last.isEmpty()) {
            say("nothing was answered yet");
            return;
        }
        GenerationResult result = last.get();
        say(String.format(
                Locale.ROOT,
                "last answer: %d tokens, %.1f tokens/s; its prompt: %d tokens, of which %d were kept from before, %.1f tokens/s",
                result.ids().length,
                result.decodeTokensPerSecond(),
                result.promptIds().length,
                result.reusedTokens(),
                result.prefillTokensPerSecond()));
        say(answers + " answers of " + generated + " tokens; "
                + conversation.messages().size() + " messages, " + tokens() + " of " + model.contextLength()
                + " positions");
    }

    private void say(String line) {
        console.err().println(line);
    }

    /** Streams an answer. */
    private final class Listening implements GenerationListener, AutoCloseable {
        private final int prompt;
        private final Progress progress;

        Listening(int prompt) {
            this.prompt = prompt;
            progress = Progress.of(console.status(), "reading", Progress.Unit.TOKENS, prompt);
        }

        @Override
        public void promptRun(int tokens) {
            progress.update(tokens);
            if (tokens >= prompt) {
                progress.close();
            }
        }

        @Override
        public void text(String piece) {
            progress.close();
            console.out().print(piece);
        }

        @Override
        public boolean hearsChoices() {
            return false;
        }

        @Override
        public boolean isCancelled() {
            return lines.interrupted();
        }

        @Override
        public void close() {
            progress.close();
        }
    }
}
