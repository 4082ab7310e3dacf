import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.append.AppendDeleteFileMaintainer;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;

/**
 * Races of two commits by Paimon's Java core: the second one is prepared on the base, as Spark prepares it, and committed
 * after the one that comes between.
 *
 * Arguments: the folder of the tables. A line of the output is a pair: its name, the folder, the base's snapshot, and the
 * error of the second one or null, separated by tabs; line ends in it are escaped.
 */
public final class Races {
    private static final FileIO IO = LocalFileIO.create();
    private static final List<DataFileMeta> NONE = Collections.emptyList();
    private static final Random RANDOM = new Random(7);

    /** What commits, once its writers are done. */
    interface Prepared {
        void commit() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Map<String, String[][]> pairs = new LinkedHashMap<>();
        String[] changes = {"append there", "delete there", "overwrite there", "drop there", "truncate", "compaction there"};
        pairs.put("append", new String[][] {changes,
            {"append there", "delete there", "delete beside", "delete elsewhere", "overwrite there", "compaction there", "truncate"}});
        pairs.put("append vectors", new String[][] {{"append there", "delete there", "compaction there"},
            {"append there", "delete there", "delete beside", "overwrite there", "compaction there"}});
        pairs.put("append buckets", new String[][] {{"append there", "delete there", "compaction there"},
            {"append there", "delete there", "compaction there", "rescale there"}});
        String[] writes = {"append there", "delete there", "overwrite there", "compaction there"};
        pairs.put("keys", new String[][] {writes, {"append there", "overwrite there", "compaction there", "rescale there"}});
        pairs.put("keys vectors", new String[][] {writes,
            {"append there", "append elsewhere", "delete beside", "overwrite there", "compaction there", "drop there", "rescale there"}});
        for (Map.Entry<String, String[][]> kind : pairs.entrySet()) {
            for (String second : kind.getValue()[0]) {
                for (String between : kind.getValue()[1]) {
                    out.println(race(arguments[0], kind.getKey(), second, between));
                }
            }
        }
    }

    private static String race(String root, String kind, String second, String between) throws Exception {
        String folder = String.join("-", kind, second, between).replace(' ', '_');
        Path path = new Path(root, folder);
        FileStoreTable table = create(path, kind);
        for (int start = 0; start < 30; start += 10) {
            InternalRow[] rows = new InternalRow[20];
            for (int i = 0; i < 20; i++) {
                StringBuilder text = new StringBuilder();
                while (text.length() < 2000) {
                    text.append(Long.toHexString(RANDOM.nextLong()));
                }
                rows[i] = row(start + i / 2 + 100 * (i % 2), i % 2, text.toString());
            }
            write(table, table.newBatchWriteBuilder(), null, rows).commit();
        }
        long base = table.snapshotManager().latestSnapshotId();
        Prepared prepared = prepare(table, path, second);
        prepare(table, path, between).commit();
        String error = null;
        try {
            prepared.commit();
        } catch (Exception raised) {
            StringBuilder said = new StringBuilder(raised.toString());
            for (Throwable cause = raised.getCause(); cause != null; cause = cause.getCause()) {
                said.append("\nCaused by: ").append(cause);
            }
            error = said.toString();
        }
        String name = String.join(" / ", kind, second, between);
        return name + "\t" + folder + "\t" + base + "\t" + (error == null ? "" : error.replace("\n", "\\n"));
    }

    private static FileStoreTable create(Path path, String kind) throws Exception {
        boolean hasKeys = kind.startsWith("keys");
        Schema.Builder schema = Schema.newBuilder()
                .column("id", hasKeys ? DataTypes.INT().notNull() : DataTypes.INT())
                .column("p", hasKeys ? DataTypes.INT().notNull() : DataTypes.INT())
                .column("v", DataTypes.STRING())
                .partitionKeys("p")
                .option("bucket", kind.equals("append") || kind.equals("append vectors") ? "-1" : "2")
                .option("file.format", "avro")
                .option("compaction.min.file-num", "2");
        if (hasKeys) {
            schema.primaryKey("id", "p");
        } else if (kind.endsWith("buckets")) {
            schema.option("bucket-key", "id");
        }
        if (kind.endsWith("vectors")) {
            schema.option("deletion-vectors.enabled", "true");
        }
        new SchemaManager(IO, path).createTable(schema.build());
        return FileStoreTableFactory.create(IO, path);
    }

    private static GenericRow row(int id, int p, String v) {
        return GenericRow.of(id, p, BinaryString.fromString(v));
    }

    private static Prepared prepare(FileStoreTable table, Path path, String statement) throws Exception {
        boolean hasKeys = !table.primaryKeys().isEmpty();
        int p = statement.endsWith("elsewhere") ? 1 : 0;
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        switch (statement.split(" ")[0]) {
            case "append":
                return write(table, builder, null, row(3 + 100 * p, p, "a"), row(4 + 100 * p, p, "a"));
            case "overwrite":
                builder.withOverwrite(Collections.singletonMap("p", "" + p));
                return write(table, builder, null, row(3 + 100 * p, p, "o"));
            case "delete":
                int id = (statement.endsWith("beside") ? 14 : 3) + 100 * p;
                GenericRow gone = GenericRow.ofKind(RowKind.DELETE, id, p, BinaryString.fromString("d"));
                // as Spark does, a copy on write compacts nothing besides
                FileStoreTable plain = table.copy(Collections.singletonMap("write-only", "" + !hasKeys));
                return hasKeys ? write(table, builder, null, gone) : delete(plain, plain.newBatchWriteBuilder(), id, p);
            case "compaction":
                return compact(table, builder, p);
            case "rescale":
                return () -> {
                    new SchemaManager(IO, path).commitChanges(SchemaChange.setOption("bucket", "3"));
                    FileStoreTable fresh = FileStoreTableFactory.create(IO, path);
                    BatchWriteBuilder again = fresh.newBatchWriteBuilder().withOverwrite(Collections.singletonMap("p", "0"));
                    InternalRow[] rows = new InternalRow[20];
                    for (int i = 0; i < 20; i++) {
                        rows[i] = row(i, 0, "r");
                    }
                    write(fresh, again, null, rows).commit();
                };
            case "drop":
                return () -> {
                    try (BatchTableCommit commit = builder.newCommit()) {
                        commit.truncatePartitions(Collections.singletonList(Collections.singletonMap("p", "" + p)));
                    }
                };
            default:
                return () -> {
                    try (BatchTableCommit commit = builder.newCommit()) {
                        commit.truncateTable();
                    }
                };
        }
    }

    /** Writes rows; the commit removes a file as well, as a DELETE that copies on write does. */
    private static Prepared write(FileStoreTable table, BatchWriteBuilder builder, ManifestEntry removed, InternalRow... rows)
            throws Exception {
        List<CommitMessage> messages;
        try (BatchTableWrite write = builder.newWrite()) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            for (InternalRow row : rows) {
                write.write(row);
            }
            messages = new ArrayList<>(write.prepareCommit());
        }
        if (removed != null) {
            messages.add(new CommitMessageImpl(removed.partition(), removed.bucket(), removed.totalBuckets(),
                    new DataIncrement(NONE, Collections.singletonList(removed.file()), NONE), CompactIncrement.emptyIncrement()));
        }
        return commit(builder, messages);
    }

    private static Prepared commit(BatchWriteBuilder builder, List<CommitMessage> messages) {
        return () -> {
            try (BatchTableCommit commit = builder.newCommit()) {
                commit.commit(messages);
            }
        };
    }

    /** DELETE of a table without keys: a file without the row, or a deletion vector. */
    private static Prepared delete(FileStoreTable table, BatchWriteBuilder builder, int id, int p) throws Exception {
        for (ManifestEntry entry : table.store().newScan().plan().files()) {
            int least = entry.file().valueStats().minValues().getInt(0);
            int most = entry.file().valueStats().maxValues().getInt(0);
            int bucket = table.coreOptions().bucket() < 0 ? 0 : bucketOf(table, id, p);
            if (entry.partition().getInt(0) != p || id < least || id > most || entry.bucket() != bucket) {
                continue;
            }
            if (table.coreOptions().deletionVectorsEnabled()) {
                return commit(builder, Collections.singletonList(mark(table, entry, id - least)));
            }
            List<InternalRow> kept = new ArrayList<>();
            for (int other = least; other <= most; other++) {
                if (other != id && (table.coreOptions().bucket() < 0 || bucketOf(table, other, p) == bucket)) {
                    kept.add(row(other, p, "kept"));
                }
            }
            return write(table, builder, entry, kept.toArray(new InternalRow[0]));
        }
        throw new IllegalStateException("no file has the row " + id);
    }

    private static int bucketOf(FileStoreTable table, int id, int p) throws Exception {
        try (BatchTableWrite write = table.newBatchWriteBuilder().newWrite()) {
            return write.getBucket(row(id, p, ""));
        }
    }

    private static CommitMessage mark(FileStoreTable table, ManifestEntry entry, long position) {
        AppendDeleteFileMaintainer maintainer = BaseAppendDeleteFileMaintainer.forUnawareAppend(
                table.store().newIndexFileHandler(), table.snapshotManager().latestSnapshot(), entry.partition());
        BitmapDeletionVector vector = new BitmapDeletionVector();
        vector.delete(position);
        maintainer.notifyNewDeletionVector(entry.file().fileName(), vector);
        List<IndexFileMeta> added = new ArrayList<>();
        List<IndexFileMeta> deleted = new ArrayList<>();
        for (IndexManifestEntry index : maintainer.persist()) {
            (index.kind() == FileKind.ADD ? added : deleted).add(index.indexFile());
        }
        return new CommitMessageImpl(entry.partition(), 0, -1, new DataIncrement(NONE, NONE, NONE, added, deleted),
                CompactIncrement.emptyIncrement());
    }

    private static Prepared compact(FileStoreTable table, BatchWriteBuilder builder, int p) throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        if (table.coreOptions().bucket() < 0) {
            for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
                if (task.partition().getInt(0) == p) {
                    messages.add(task.doCompact(table, (BaseAppendFileStoreWrite) table.store().newWrite("compactor")));
                }
            }
            return commit(builder, messages);
        }
        try (BatchTableWrite write = builder.newWrite()) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            Map<Integer, BinaryRow> buckets = new HashMap<>();
            for (ManifestEntry entry : table.store().newScan().plan().files()) {
                if (entry.partition().getInt(0) == p) {
                    buckets.put(entry.bucket(), entry.partition());
                }
            }
            for (Map.Entry<Integer, BinaryRow> bucket : buckets.entrySet()) {
                write.compact(bucket.getValue(), bucket.getKey(), true);
            }
            messages.addAll(write.prepareCommit());
        }
        return commit(builder, messages);
    }
}
