import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.Changelog;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.manifest.ManifestList;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.ScanMode;
import org.apache.paimon.table.system.SystemTableLoader;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.Pair;

/** Everything the engine itself says about one table, read back through its own Java API. */
final class Answers {
    private static final String[] SYSTEM_TABLES = {
        "snapshots", "schemas", "options", "files", "manifests", "partitions", "buckets", "tags", "branches",
        "statistics", "table_indexes", "consumers", "file_key_ranges"
    };

    private final Map<String, Object> out = new LinkedHashMap<>();
    private final Map<String, Object> failures = new LinkedHashMap<>();

    interface Question {
        Object ask() throws Exception;
    }

    static Map<String, Object> of(FileStoreTable table) throws Exception {
        Answers answers = new Answers();
        answers.systemTables(table);
        answers.put("rows", () -> rows(table));
        answers.history(table);
        Map<String, Object> branches = new LinkedHashMap<>();
        for (String branch : table.branchManager().branches()) {
            Answers own = new Answers();
            FileStoreTable view = table.switchToBranch(branch);
            own.systemTables(view);
            own.put("rows", () -> rows(view));
            own.history(view);
            branches.put(branch, own.done());
        }
        if (!branches.isEmpty()) {
            answers.out.put("branches_data", branches);
        }
        return answers.done();
    }

    private Map<String, Object> done() {
        if (!failures.isEmpty()) {
            out.put("engine_errors", failures);
        }
        return out;
    }

    /** An answer the engine cannot give (an expired manifest, a table without snapshots) is recorded as its error. */
    private void put(String key, Question question) {
        try {
            Object answer = question.ask();
            if (answer != null) {
                out.put(key, answer);
            }
        } catch (Exception | Error e) {
            failures.put(key, e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).split("\n")[0]);
        }
    }

    private void systemTables(FileStoreTable table) {
        for (String name : SYSTEM_TABLES) {
            Table system = SystemTableLoader.load(name, table);
            if (system != null) {
                put(name, () -> records(system));
            }
        }
    }

    private void history(FileStoreTable table) throws Exception {
        Map<String, Object> files = new LinkedHashMap<>();
        Map<String, Object> live = new LinkedHashMap<>();
        Map<String, Object> changelog = new LinkedHashMap<>();
        Map<String, Object> indexes = new LinkedHashMap<>();
        Map<String, Object> lists = new LinkedHashMap<>();
        Iterator<Snapshot> snapshots = table.snapshotManager().snapshots();
        List<Snapshot> ordered = new ArrayList<>();
        snapshots.forEachRemaining(ordered::add);
        ordered.sort((a, b) -> Long.compare(a.id(), b.id()));
        for (Snapshot snapshot : ordered) {
            String id = String.valueOf(snapshot.id());
            FileStoreTable then = table.copy(Collections.singletonMap("scan.snapshot-id", id));
            files.put(id, attempt("files@" + id, () -> records(SystemTableLoader.load("files", then))));
            live.put(id, attempt("entries@" + id, () -> Entries.live(table, snapshot)));
            if (snapshot.changelogManifestList() != null) {
                changelog.put(id, attempt("changelog@" + id, () -> Entries.of(table, snapshot, ScanMode.CHANGELOG)));
            }
            if (snapshot.indexManifest() != null) {
                indexes.put(id, attempt("index@" + id, () -> Entries.indexes(table, snapshot)));
            }
            manifestLists(table, snapshot, lists);
        }
        out.put("files_by_snapshot", files);
        out.put("entries_by_snapshot", live);
        if (!changelog.isEmpty()) {
            out.put("changelog_entries_by_snapshot", changelog);
        }
        if (!indexes.isEmpty()) {
            out.put("index_entries_by_snapshot", indexes);
        }
        out.put("manifest_lists", lists);
        longLivedChangelogs(table);
        tags(table);
    }

    private Object attempt(String key, Question question) {
        try {
            return question.ask();
        } catch (Exception | Error e) {
            failures.put(key, e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).split("\n")[0]);
            return null;
        }
    }

    private void longLivedChangelogs(FileStoreTable table) throws Exception {
        Map<String, Object> changelogs = new LinkedHashMap<>();
        Iterator<Changelog> each = table.changelogManager().changelogs();
        while (each.hasNext()) {
            Changelog changelog = each.next();
            String id = String.valueOf(changelog.id());
            changelogs.put(id, attempt("changelog " + id, () -> Entries.of(table, changelog, ScanMode.CHANGELOG)));
        }
        if (!changelogs.isEmpty()) {
            out.put("long_lived_changelog_entries", changelogs);
        }
    }

    private void tags(FileStoreTable table) {
        Map<String, Object> files = new LinkedHashMap<>();
        Map<String, Object> live = new LinkedHashMap<>();
        for (Pair<org.apache.paimon.tag.Tag, String> tag : table.tagManager().tagObjects()) {
            String name = tag.getRight();
            FileStoreTable then = table.copy(Collections.singletonMap("scan.tag-name", name));
            files.put(name, attempt("files@" + name, () -> records(SystemTableLoader.load("files", then))));
            live.put(name, attempt("entries@" + name, () -> Entries.live(table, tag.getLeft().trimToSnapshot())));
        }
        if (!files.isEmpty()) {
            out.put("files_by_tag", files);
            out.put("entries_by_tag", live);
        }
    }

    private void manifestLists(FileStoreTable table, Snapshot snapshot, Map<String, Object> lists) {
        ManifestList list = table.store().manifestListFactory().create();
        String[] names = {snapshot.baseManifestList(), snapshot.deltaManifestList(), snapshot.changelogManifestList()};
        for (String name : names) {
            if (name != null && !lists.containsKey(name)) {
                lists.put(name, attempt(name, () -> metas(table, list.read(name))));
            }
        }
    }

    private static List<Object> metas(FileStoreTable table, List<ManifestFileMeta> metas) {
        List<Object> answers = new ArrayList<>();
        for (ManifestFileMeta meta : metas) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("fileName", meta.fileName());
            one.put("fileSize", meta.fileSize());
            one.put("numAddedFiles", meta.numAddedFiles());
            one.put("numDeletedFiles", meta.numDeletedFiles());
            one.put("partitionStats", Entries.stats(meta.partitionStats(), table.schema().logicalPartitionType().getFieldTypes()));
            one.put("schemaId", meta.schemaId());
            one.put("minBucket", meta.minBucket());
            one.put("maxBucket", meta.maxBucket());
            one.put("minLevel", meta.minLevel());
            one.put("maxLevel", meta.maxLevel());
            one.put("minRowId", meta.minRowId());
            one.put("maxRowId", meta.maxRowId());
            answers.add(one);
        }
        return answers;
    }

    static List<Object> records(Table table) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        RowType type = table.rowType();
        List<Object> rows = new ArrayList<>();
        try (RecordReader<InternalRow> reader = builder.newRead().createReader(builder.newScan().plan())) {
            reader.forEachRemaining(row -> rows.add(Json.object(row, type)));
        }
        return rows;
    }

    /** What a query of the whole table returns, sorted as text; the engine's own order is not fixed. */
    private static List<Object> rows(Table table) throws Exception {
        List<Object> rows = records(table);
        rows.sort((a, b) -> a.toString().compareTo(b.toString()));
        return rows;
    }
}
