package io.github.tornadotransformers.models.chat;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.checkpoint.CheckpointFiles;
import io.github.tornadotransformers.models.jinja.Limits;
import io.github.tornadotransformers.models.jinja.Template;
import io.github.tornadotransformers.models.jinja.TemplateException;
import io.github.tornadotransformers.models.tokenizer.StoredChatTemplate;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A model's chat template, a Jinja program, with the variables and functions that Hugging Face's transformers give it. Safe for use by several
 * threads.
 */
public final class ChatTemplate {
    private static final long MAX_BYTES = 1 << 22;
    /** Texts that no template has of its own. */
    private static final String ANSWER = "4f1c9-answer";

    private static final String NEXT_QUESTION = "4f1c9-question";

    private final String source;
    private final Template template;
    private final Optional<Template> forTools;
    private final InstantSource clock;

    private ChatTemplate(String source, Template template, Optional<Template> forTools, InstantSource clock) {
        this.source = source;
        this.template = template;
        this.forTools = forTools;
        this.clock = clock;
    }

    /**
     * @param text of the template
     * @param source what messages call it
     * @throws CheckpointException if it is no template, or uses what is not implemented
     */
    public static ChatTemplate of(String text, String source) {
        return new ChatTemplate(source, parsed(text, source), Optional.empty(), InstantSource.system());
    }

    /** The template of a file. */
    public static ChatTemplate ofFile(Path file) {
        return of(read(file), Quoted.path(file));
    }

    /**
     * The template of a model, where it is {@linkplain StoredChatTemplate#find stored}.
     *
     * @throws CheckpointException if there is one that cannot be used
     */
    public static Optional<ChatTemplate> ofModel(Path path) {
        return StoredChatTemplate.find(path)
                .map(stored -> new ChatTemplate(
                        stored.source(),
                        parsed(stored.text(), stored.source()),
                        stored.forTools().map(text -> parsed(text, stored.source())),
                        InstantSource.system()));
    }

    private static String read(Path file) {
        CheckpointFiles.requireContents(file);
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new CheckpointException(
                        Quoted.path(file) + " has " + Files.size(file) + " bytes, expected at most " + MAX_BYTES);
            }
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new CheckpointException(Quoted.path(file) + " is not UTF-8 text", e);
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    private static Template parsed(String text, String source) {
        try {
            return Template.parse(text);
        } catch (TemplateException e) {
            throw failed(source, e);
        }
    }

    private static CheckpointException failed(String source, TemplateException e) {
        return new CheckpointException(source + ": the chat template fails: " + Quoted.line(e.getMessage()), e);
    }

    /** The same template at another time: some write the date down. */
    public ChatTemplate at(InstantSource time) {
        return new ChatTemplate(source, template, forTools, time);
    }

    /**
     * The conversation's text.
     *
     * @param special texts of special tokens by their names, {@code bos_token} and others
     * @throws InvalidRequest if the template refuses the conversation
     * @throws CheckpointException if the template fails
     */
    public String render(List<ChatMessage> messages, ChatOptions options, Map<String, String> special) {
        Map<String, Object> variables = new HashMap<>(special);
        variables.put("tools", null);
        variables.put("documents", null);
        variables.putAll(options.variables());
        options.tools().ifPresent(tools -> variables.put("tools", tools));
        variables.put("messages", messages.stream().map(ChatMessage::fields).toList());
        variables.put("add_generation_prompt", options.generationPrompt());
        Template chosen = options.tools().isPresent() ? forTools.orElse(template) : template;
        try {
            return chosen.render(variables, clock, Limits.DEFAULT);
        } catch (TemplateException e) {
            if (e.isRaised()) {
                throw new InvalidRequest(
                        "the model's chat template refuses the conversation: " + Quoted.line(e.getMessage()));
            }
            throw failed(source, e);
        }
    }

    /** By what an answer ends, as the template shows; nothing where it cannot be asked. */
    public ChatEnding ending(Tokenizer tokenizer) {
        List<ChatMessage> asked =
                List.of(ChatMessage.user("a"), ChatMessage.assistant(ANSWER), ChatMessage.user(NEXT_QUESTION));
        String rendered;
        try {
            rendered = render(asked, ChatOptions.DEFAULT, tokenizer.namedSpecialTokens());
        } catch (TransformersException e) {
            return ChatEnding.UNKNOWN;
        }
        int end = rendered.lastIndexOf(ANSWER) + ANSWER.length();
        int next = rendered.indexOf(NEXT_QUESTION, end);
        if (end < ANSWER.length() || next < 0) {
            return ChatEnding.UNKNOWN;
        }
        String between = rendered.substring(end, next);
        String behind = between.stripLeading();
        Optional<String> token = tokenizer.specialTexts().stream()
                .filter(behind::startsWith)
                .max(Comparator.comparingInt(String::length));
        return token.isPresent()
                ? new ChatEnding(tokenizer.id(token.get()), Optional.empty())
                : new ChatEnding(
                        OptionalInt.empty(),
                        Optional.of(between.stripTrailing()).filter(text -> !text.isEmpty()));
    }

    /**
     * The conversation as a prompt. A special token that a message or a tool spells is text.
     *
     * @throws InvalidRequest if the template refuses the conversation
     * @throws CheckpointException if the template fails
     */
    public ChatPrompt prompt(List<ChatMessage> messages, ChatOptions options, Tokenizer tokenizer) {
        SpelledTokens spelled = new SpelledTokens(tokenizer, messages, options);
        String rendered = render(spelled.marked(messages), spelled.marked(options), tokenizer.namedSpecialTokens());
        return new ChatPrompt(spelled.unmarked(rendered), spelled.ids(rendered));
    }
}
