import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.types.RowType;

/** One table being written: commits as a streaming job (user "lake-writer", ids from 1) or as batch writes. */
final class Lake {
    static final FileIO IO = LocalFileIO.create();
    private static final String USER = "lake-writer";

    FileStoreTable table;
    private final Path path;
    private final String branch;
    private long nextCommit = 1;

    Lake(Path path, Schema schema) throws Exception {
        this.path = path;
        this.branch = "main";
        new SchemaManager(IO, path).createTable(schema);
        this.table = FileStoreTableFactory.create(IO, path);
    }

    private Lake(Path path, String branch, FileStoreTable table) {
        this.path = path;
        this.branch = branch;
        this.table = table;
    }

    /** The same table seen through one of its branches. */
    Lake branch(String name) {
        return new Lake(path, name, table.switchToBranch(name));
    }

    /** The same table with other options for this writer only. */
    Lake with(String... options) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        Lake lake = new Lake(path, branch, table.copy(map));
        lake.nextCommit = nextCommit + 1000;
        return lake;
    }

    void alter(SchemaChange... changes) throws Exception {
        table.schemaManager().commitChanges(changes);
        FileStoreTable fresh = FileStoreTableFactory.create(IO, path);
        table = branch.equals("main") ? fresh : fresh.switchToBranch(branch);
    }

    void commit(InternalRow... rows) throws Exception {
        commit(row -> -1, rows);
    }

    /** One commit; bucket < 0 leaves the choice to the table. */
    void commit(ToIntFunction<InternalRow> bucket, InternalRow... rows) throws Exception {
        try (TableWriteImpl<?> write = writer()) {
            for (InternalRow row : rows) {
                if (bucket.applyAsInt(row) < 0) {
                    write.write(row);
                } else {
                    write.write(row, bucket.applyAsInt(row));
                }
            }
            finish(write.prepareCommit(true, nextCommit));
        }
    }

    TableWriteImpl<?> writer() throws Exception {
        java.nio.file.Path spill = Files.createTempDirectory("lake-spill");
        spill.toFile().deleteOnExit();
        TableWriteImpl<?> write = table.newWrite(USER, 0);
        write.withIOManager(IOManager.create(spill.toString()));
        return write;
    }

    /** Commits messages made elsewhere (deletion vectors, partial columns). */
    void finish(List<CommitMessage> messages) throws Exception {
        try (TableCommitImpl commit = table.newCommit(USER)) {
            commit.ignoreEmptyCommit(true).commit(nextCommit++, messages);
        }
    }

    /** A checkpoint of a streaming job to which no row has come. */
    void commitNothing() throws Exception {
        try (TableCommitImpl commit = table.newCommit(USER)) {
            commit.ignoreEmptyCommit(false).commit(nextCommit++, Collections.emptyList());
        }
    }

    void batch(InternalRow... rows) throws Exception {
        batch(table.newBatchWriteBuilder(), rows);
    }

    /** INSERT OVERWRITE: of the given partition, or dynamically of those written when it is empty. */
    void overwrite(Map<String, String> partition, InternalRow... rows) throws Exception {
        batch(table.newBatchWriteBuilder().withOverwrite(partition), rows);
    }

    private void batch(BatchWriteBuilder builder, InternalRow... rows) throws Exception {
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            for (InternalRow row : rows) {
                write.write(row);
            }
            commit.commit(write.prepareCommit());
        }
    }

    /** Writes only the named columns of a data-evolution table, over the rows that begin at firstRowId (or new ones). */
    void columns(List<String> names, Long firstRowId, InternalRow... rows) throws Exception {
        RowType type = table.rowType().project(names);
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite().withWriteType(type);
                BatchTableCommit commit = builder.newCommit()) {
            for (InternalRow row : rows) {
                write.write(row);
            }
            List<CommitMessage> messages = write.prepareCommit();
            commit.commit(firstRowId == null ? messages : Vectors.withFirstRowId(messages, firstRowId));
        }
    }

    /** A full compaction of every (partition, bucket) of a bucketed table. */
    void compact() throws Exception {
        try (TableWriteImpl<?> write = writer()) {
            List<String> seen = new ArrayList<>();
            for (ManifestEntry entry : entries()) {
                String place = entry.partition().hashCode() + "/" + entry.bucket();
                if (!seen.contains(place)) {
                    seen.add(place);
                    write.compact(entry.partition(), entry.bucket(), true);
                }
            }
            finish(write.prepareCommit(true, nextCommit));
        }
    }

    List<ManifestEntry> entries() {
        return table.store().newScan().plan().files();
    }

    DataFileMeta file(int index) {
        return entries().get(index).file();
    }

    BinaryRow partition(int index) {
        return entries().get(index).partition();
    }

    long latest() {
        return table.snapshotManager().latestSnapshotId();
    }

    static Map<String, String> options(String... pairs) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    static List<String> names(String... names) {
        return names.length == 0 ? Collections.emptyList() : Arrays.asList(names);
    }
}
