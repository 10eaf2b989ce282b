package io.github.tornadotransformers.server;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Answers OpenAI's protocol with models on engines, until it is closed. */
public final class ModelServer implements AutoCloseable {
    private static final int IDLE_MILLIS = 60_000;
    private static final int POLL_MILLIS = 20;
    private static final int HEADER_BYTES = 16 << 10;

    private final ServerSettings settings;
    private final ServedModels models;
    private final ApiHandler handler;
    private final Server server;
    private final ServerConnector connector;

    private ModelServer(ServerSettings settings, List<ServedModel> served) {
        this.settings = settings;
        int running = settings.running();
        models = new ServedModels(
                served, SchedulerLimits.ofRunning(running), running + settings.waiting(), settings.memory());
        ServerMetrics metrics = new ServerMetrics(models);
        handler = new ApiHandler(models, settings, metrics);
        QueuedThreadPool threads = new QueuedThreadPool();
        threads.setName("http");
        threads.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server = new Server(threads);
        connector = connector();
        connector.setHost(settings.host());
        connector.setPort(settings.port());
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.setHandler(handler);
    }

    /**
     * Listens, and loads the first model, so that it is there when it is asked for.
     *
     * @param served at least one
     * @throws IOException if the address cannot be listened on
     * @throws io.github.tornadotransformers.models.InvalidRequest if the certificate cannot be used
     */
    public static ModelServer start(ServerSettings settings, List<ServedModel> served) throws IOException {
        ModelServer server = new ModelServer(settings, served);
        Thread.ofVirtual().start(server.models::prepareFirst);
        try {
            server.server.start();
        } catch (IOException e) {
            server.close();
            throw e;
        } catch (Exception e) {
            server.close();
            throw new IOException(e);
        }
        return server;
    }

    private ServerConnector connector() {
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setSendServerVersion(false);
        configuration.setRequestHeaderSize(HEADER_BYTES);
        HttpConnectionFactory http = new HttpConnectionFactory(configuration);
        if (settings.tls().isEmpty()) {
            return new ServerConnector(server, http);
        }
        configuration.addCustomizer(new SecureRequestCustomizer(false));
        SslConnectionFactory tls =
                new SslConnectionFactory(PemFiles.contextFactory(settings.tls().get()), http.getProtocol());
        return new ServerConnector(server, tls, http);
    }

    /** Where it listens. */
    public URI address() {
        String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
        return URI.create(
                (settings.tls().isPresent() ? "https" : "http") + "://" + host + ":" + connector.getLocalPort());
    }

    /**
     * Loads the first model.
     *
     * @return where it runs, in words
     * @throws TransformersException if it cannot be loaded
     */
    public String loadFirst() {
        try (ServedModels.Lease lease = models.lease(Optional.empty())) {
            ModelWorker worker = lease.worker();
            return worker.name() + ": " + worker.folder().config().modelType() + ", "
                    + worker.session().dtype().name().toLowerCase(Locale.ROOT) + ", on engine "
                    + worker.session().engine() + " (" + worker.session().device() + ")";
        } catch (ApiException e) {
            throw e.getCause() instanceof TransformersException reason ? reason : new EngineException(e.getMessage());
        }
    }

    /** What the models take that are loaded now. */
    public long loadedBytes() {
        return models.bytes();
    }

    /** Requests that are being answered. */
    public int open() {
        return handler.open();
    }

    /** Takes nothing new, lets answers end for as long as the settings say, and frees everything. */
    @Override
    public void close() {
        handler.drain();
        long deadline = System.nanoTime() + settings.grace().toNanos();
        try {
            while (handler.open() > 0 && System.nanoTime() - deadline < 0) {
                Thread.sleep(POLL_MILLIS);
            }
            models.close();
            server.stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
