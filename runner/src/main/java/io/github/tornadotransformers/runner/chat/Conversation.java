package io.github.tornadotransformers.runner.chat;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.chat.ChatMessage;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What has been said, the system's message first. A turn is a question with what follows it, to the next one. */
public final class Conversation {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final List<ChatMessage> messages = new ArrayList<>();

    public List<ChatMessage> messages() {
        return List.copyOf(messages);
    }

    public void add(ChatMessage message) {
        messages.add(message);
    }

    /** Puts the system's message in front, in the place of another; a blank one takes it away. */
    public void setSystem(String text) {
        messages.removeIf(Conversation::isSystem);
        if (!text.isBlank()) {
            messages.addFirst(ChatMessage.system(text));
        }
    }

    /** Forgets all but the system's message. */
    public void clear() {
        messages.removeIf(message -> !isSystem(message));
    }

    /** Takes the last question back, and what follows it. */
    public Optional<ChatMessage> takeLastQuestion() {
        int last = lastQuestion();
        if (last < 0) {
            return Optional.empty();
        }
        ChatMessage question = messages.get(last);
        messages.subList(last, messages.size()).clear();
        return Optional.of(question);
    }

    /** Forgets the oldest turn; false where there is only the last one. */
    public boolean dropOldestTurn() {
        int first = 0;
        while (first < messages.size() && isSystem(messages.get(first))) {
            first++;
        }
        int next = first + 1;
        while (next < messages.size() && !messages.get(next).role().equals(ChatMessage.USER)) {
            next++;
        }
        if (next >= messages.size()) {
            return false;
        }
        messages.subList(first, next).clear();
        return true;
    }

    private int lastQuestion() {
        int last = messages.size() - 1;
        while (last >= 0 && !messages.get(last).role().equals(ChatMessage.USER)) {
            last--;
        }
        return last;
    }

    private static boolean isSystem(ChatMessage message) {
        return message.role().equals(ChatMessage.SYSTEM);
    }

    /** Writes a list of messages, or nothing. */
    public void save(Path file) {
        try {
            List<Object> fields = new ArrayList<>();
            messages.forEach(message -> fields.add(message.fields()));
            WholeFile.write(file, (JSON.writeValueAsString(fields) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw Failure.of(file + " cannot be written: " + IoReason.of(e), e);
        }
    }

    /** Puts the messages of a file in the place of these; on a failure these stay. */
    public void load(Path file) {
        List<ChatMessage> read = read(file);
        messages.clear();
        messages.addAll(read);
    }

    /**
     * A list of messages, or an object whose {@code messages} are one.
     *
     * @throws Failure if the file cannot be read, or has no such list
     */
    public static List<ChatMessage> read(Path file) {
        JsonNode json = json(file);
        JsonNode list = json.isObject() ? json.path("messages") : json;
        if (!list.isArray()) {
            throw Failure.of(Quoted.path(file) + " has no list of messages");
        }
        List<ChatMessage> messages = new ArrayList<>();
        try {
            list.forEach(each -> messages.add(ChatMessage.ofJson(each)));
        } catch (InvalidRequest e) {
            throw Failure.of(Quoted.path(file) + ": " + e.getMessage(), e);
        }
        return messages;
    }

    /** @throws Failure if the file cannot be read, or is no JSON */
    public static JsonNode json(Path file) {
        try {
            return JSON.readTree(Files.readAllBytes(file));
        } catch (JacksonException e) {
            throw Failure.of(Quoted.path(file) + " is not valid JSON: " + Quoted.line(e.getOriginalMessage()), e);
        } catch (IOException e) {
            throw Failure.of(Quoted.path(file) + " cannot be read: " + IoReason.of(e), e);
        }
    }
}
