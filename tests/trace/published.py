# SPDX-License-Identifier: MIT
"""Decodes a trace of a program with Perfetto's published definitions, and looks at it as Perfetto does.

  published.py BELFRY FOLDER PROGRAM [ARGUMENT...]

BELFRY_PERFETTO_PROTO names the file perfetto_trace.proto; else FOLDER has it, fetched there once.
Without it, or without protoc, this exits with 77."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

URL = ("https://raw.githubusercontent.com/google/perfetto/v50.1/"
       "protos/perfetto/trace/perfetto_trace.proto")
CLEARED, NEEDED = 1, 2  # TracePacket.SequenceFlags
MONOTONIC, OWN_CLOCK = 3, 64


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fail(packet, why):
    sys.exit("FAILED: %s\n%s" % (why, packet))


def proto_find(folder):
    given = os.environ.get("BELFRY_PERFETTO_PROTO")
    path = given or os.path.join(folder, "perfetto_trace.proto")
    if not given and not os.path.exists(path):
        part = path + ".part"
        if not shutil.which("curl") or subprocess.run(
                ["curl", "-fsSL", "--max-time", "30", "-o", part, URL],
                stderr=subprocess.DEVNULL, check=False).returncode:
            skip("Perfetto's definitions can't be fetched; BELFRY_PERFETTO_PROTO can name a copy")
        os.rename(part, path)
    return path


class Message(dict):
    """Fields by name, each a list of values; str() is where it began."""


def text_read(lines):
    """What protoc --decode prints: 'name: value', 'name {', '}'."""
    stack = [Message()]
    for line in lines:
        line = line.strip()
        if line == "}":
            stack.pop()
            continue
        match = re.match(r'(\w+)(?:: (.*)| \{)$', line)
        if not match or match.group(1).isdigit():
            fail(line, "not in the published definitions")
        name, value = match.groups()
        if value is None:
            value = Message()
            stack[-1].setdefault(name, []).append(value)
            stack.append(value)
        else:
            stack[-1].setdefault(name, []).append(
                value[1:-1] if value.startswith('"') else
                int(value) if re.match(r"-?\d+$", value) else value)
    return stack[0].get("packet", [])


def one(message, name, default=None):
    values = message.get(name, [default])
    if len(values) != 1:
        fail(message, "%s occurs %d times" % (name, len(values)))
    return values[0]


class Sequence:
    def __init__(self):
        self.words = {}  # (table, number) -> text
        self.clock = None
        self.now = 0


TABLES = {"event_categories": "category", "event_names": "name",
          "debug_annotation_names": "annotation", "debug_annotation_string_values": "text"}


def words_take(packet, sequence):
    for field, entries in one(packet, "interned_data", {}).items():
        for entry in entries:
            sequence.words[TABLES[field], one(entry, "iid")] = one(entry, "name",
                                                                   one(entry, "str"))


def words_used(event):
    used = [("category", n) for n in event.get("category_iids", [])]
    used += [("name", n) for n in event.get("name_iid", [])]
    for about in event.get("debug_annotations", []):
        used += [("annotation", n) for n in about.get("name_iid", [])]
        used += [("text", n) for n in about.get("string_value_iid", [])]
    return used


def time_of(packet, sequence):
    clock = one(packet, "timestamp_clock_id", sequence.clock)
    stamp = one(packet, "timestamp", 0)
    if clock == OWN_CLOCK:
        sequence.now += stamp
        return sequence.now
    if clock != MONOTONIC:
        fail(packet, "a time on clock %s" % clock)
    return stamp


def track_take(packet, tracks):
    track = one(packet, "track_descriptor")
    uuid, parent = one(track, "uuid"), one(track, "parent_uuid")
    if (parent is None) != ("process" in track) or (parent is not None and parent not in tracks):
        fail(packet, "a track without a parent")
    counter = one(track, "counter")
    if counter is not None and ("unit" in counter) == ("unit_name" in counter):
        fail(packet, "not one of unit and unit_name")
    if not one(track, "name"):
        fail(packet, "a track without a name")
    tracks[uuid] = counter is not None


def event_check(packet, sequence, tracks):
    event = one(packet, "track_event")
    kind = one(event, "type")
    counter = tracks.get(one(event, "track_uuid"))
    if counter is None or counter != (kind == "TYPE_COUNTER"):
        fail(packet, "a %s on a track that isn't described for it" % kind)
    used = words_used(event)
    if used and not one(packet, "sequence_flags", 0) & NEEDED:
        fail(packet, "it doesn't say that it needs incremental state")
    for word in used:
        if not sequence.words.get(word):
            fail(packet, "%s %d was not interned" % word)
    if kind in ("TYPE_SLICE_BEGIN", "TYPE_INSTANT") and "name_iid" not in event:
        fail(packet, "an event without a name")
    return event


def flows_check(events):
    """Each arrow leaves one event and arrives at one, not earlier."""
    sources = {flow: time for time, _, event in events for flow in event.get("flow_ids", [])}
    left = [flow for _, _, event in events for flow in event.get("flow_ids", [])]
    arrived = [(flow, time) for time, _, event in events
               for flow in event.get("terminating_flow_ids", [])]
    if len(left) != len(sources) or len({flow for flow, _ in arrived}) != len(arrived):
        sys.exit("FAILED: two arrows have a number")
    for flow, time in arrived:
        if sources.get(flow, time + 1) > time:
            sys.exit("FAILED: arrow %s arrives at %d from %s" % (flow, time, sources.get(flow)))
    return len(arrived)


def slices_check(events):
    """On each track, in the order of time, ends match begins."""
    open_slices = {}
    for _, _, event in sorted(events, key=lambda e: e[:2]):
        track, kind = one(event, "track_uuid"), one(event, "type")
        open_slices[track] = open_slices.get(track, 0) + {"TYPE_SLICE_BEGIN": 1,
                                                          "TYPE_SLICE_END": -1}.get(kind, 0)
        if open_slices[track] < 0:
            fail(event, "an end without a begin")
    if any(open_slices.values()):
        sys.exit("FAILED: %d slices have no end" % sum(open_slices.values()))


def main():
    belfry, folder, *program = sys.argv[1:]
    if not shutil.which("protoc"):
        skip("there is no protoc")
    proto = proto_find(folder)
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "run.pftrace")
        subprocess.run([belfry, "run", "--trace", path, "--"] + program, check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, "rb") as trace:
            text = subprocess.run(
                ["protoc", "-I", os.path.dirname(os.path.abspath(proto)),
                 "--decode=perfetto.protos.Trace", os.path.basename(proto)],
                stdin=trace, check=True, stdout=subprocess.PIPE).stdout.decode()
    sequences, tracks, events = {}, {}, []
    for packet in text_read(text.splitlines()):
        number = one(packet, "trusted_packet_sequence_id")
        if one(packet, "sequence_flags", 0) & CLEARED:
            sequences[number] = Sequence()
            sequences[number].clock = one(one(packet, "trace_packet_defaults"),
                                          "timestamp_clock_id")
        if number not in sequences:
            fail(packet, "a sequence that never began")
        sequence = sequences[number]
        for clock in one(packet, "clock_snapshot", Message()).get("clocks", []):
            if one(clock, "clock_id") == OWN_CLOCK:
                sequence.now = one(clock, "timestamp")
        words_take(packet, sequence)
        if "track_descriptor" in packet:
            track_take(packet, tracks)
        elif "track_event" in packet:
            events.append((time_of(packet, sequence), len(events),
                           event_check(packet, sequence, tracks)))
    arrows = flows_check(events)
    slices_check(events)
    if not events or not arrows:
        sys.exit("FAILED: there is nothing in the trace")
    print("%d events on %d tracks, %d arrows" % (len(events), len(tracks), arrows))


main()
