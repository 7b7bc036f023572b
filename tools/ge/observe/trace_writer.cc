#include "tools/ge/observe/trace_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "ge/base/text/utf8.h"
#include "ge/wire/trace.pb.h"

namespace ge::tool {

namespace trace = ::graphengine::trace;

namespace {

constexpr uint32_t kSequence = 1;     // all packets are written by one thread
constexpr int kPacketsAtOnce = 4096;  // some 150 KB between two writes

// Names are any bytes, and readers of traces refuse what is no UTF-8.
std::string Shown(std::string_view name) {
  if (IsUtf8(name)) return std::string(name);
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

using Names = std::map<std::string, uint64_t, std::less<>>;

}  // namespace

struct TraceWriter::State {
  State(FileReplacement f, std::string p) : file(std::move(f)), path(std::move(p)) {}
  FileReplacement file;
  std::string path;
  Status failed;
  trace::Trace packets;  // not written yet
  Names categories, names, notes;
  uint64_t tracks = 0;
  bool begun = false;

  trace::Packet* Add() {
    if (packets.packet_size() >= kPacketsAtOnce) Write();
    trace::Packet* packet = packets.add_packet();
    packet->set_trusted_packet_sequence_id(kSequence);
    packet->set_sequence_flags(begun ? trace::SEQUENCE_NEEDS_INTERNED : trace::SEQUENCE_BEGINS);
    begun = true;
    return packet;
  }

  trace::TrackEvent* AddEvent(uint64_t track, uint64_t ns, trace::EventType type,
                              trace::Packet** packet) {
    *packet = Add();
    (*packet)->set_timestamp(ns);
    trace::TrackEvent* event = (*packet)->mutable_track_event();
    event->set_type(type);
    event->set_track_uuid(track);
    return event;
  }

  trace::Track* DescribeTrack(const std::string& name) {
    trace::Track* track = Add()->mutable_track_descriptor();
    track->set_uuid(++tracks);
    if (!name.empty()) track->set_name(Shown(name));
    return track;
  }

  void Write() {
    const std::string bytes = packets.SerializeAsString();
    packets.Clear();
    if (!failed.ok()) return;
    const int error = WriteBytes(file.fd(), bytes);
    if (error == 0) return;
    failed =
        Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, std::strerror(error)));
  }
};

namespace {

// The number of a name, told to readers in the packet that first has it.
template <typename AddName>
uint64_t NumberOf(std::string_view name, Names* names, AddName add) {
  if (const auto it = names->find(name); it != names->end()) return it->second;
  const uint64_t number = names->size() + 1;
  names->emplace(name, number);
  trace::Interned* interned = add();
  interned->set_iid(number);
  interned->set_name(Shown(name));
  return number;
}

void Put(const TraceNote& note, trace::Annotation* to) {
  if (const auto* n = std::get_if<uint64_t>(&note.value)) to->set_uint_value(*n);
  if (const auto* d = std::get_if<double>(&note.value)) to->set_double_value(*d);
  if (const auto* s = std::get_if<std::string>(&note.value)) to->set_string_value(Shown(*s));
}

}  // namespace

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::Begin(const std::string& path) {
  GE_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Begin(path));
  TraceWriter writer(std::make_unique<State>(std::move(file), path));
  trace::Process* process = writer.state_->DescribeTrack("")->mutable_process();
  process->set_pid(getpid());
  process->set_process_name("ge");
  return writer;
}

TraceWriter::Track TraceWriter::AddThread(const std::string& name) {
  trace::Thread* thread = state_->DescribeTrack("")->mutable_thread();
  thread->set_pid(getpid());
  thread->set_tid(getpid());
  thread->set_thread_name(Shown(name));
  return state_->tracks;
}

TraceWriter::Track TraceWriter::AddTrack(const std::string& name) {
  state_->DescribeTrack(name)->set_parent_uuid(1);
  return state_->tracks;
}

TraceWriter::Track TraceWriter::AddCounter(const std::string& name) {
  trace::Track* track = state_->DescribeTrack(name);
  track->set_parent_uuid(1);
  track->mutable_counter()->set_unit(trace::UNIT_BYTES);
  return state_->tracks;
}

void TraceWriter::BeginSlice(Track track, uint64_t ns, const char* category, std::string_view name,
                             const std::vector<TraceNote>& notes) {
  trace::Packet* packet = nullptr;
  trace::TrackEvent* event = state_->AddEvent(track, ns, trace::EVENT_SLICE_BEGIN, &packet);
  event->add_category_iids(NumberOf(category, &state_->categories, [&] {
    return packet->mutable_interned_data()->add_event_categories();
  }));
  event->set_name_iid(NumberOf(name, &state_->names,
                               [&] { return packet->mutable_interned_data()->add_event_names(); }));
  for (const TraceNote& note : notes) {
    trace::Annotation* annotation = event->add_debug_annotations();
    annotation->set_name_iid(NumberOf(note.name, &state_->notes, [&] {
      return packet->mutable_interned_data()->add_debug_annotation_names();
    }));
    Put(note, annotation);
  }
}

void TraceWriter::EndSlice(Track track, uint64_t ns) {
  trace::Packet* packet = nullptr;
  state_->AddEvent(track, ns, trace::EVENT_SLICE_END, &packet);
}

void TraceWriter::Count(Track track, uint64_t ns, int64_t bytes) {
  trace::Packet* packet = nullptr;
  state_->AddEvent(track, ns, trace::EVENT_COUNTER, &packet)->set_counter_value(bytes);
}

Status TraceWriter::Finish() {
  state_->Write();
  GE_RETURN_IF_ERROR(state_->failed);
  return state_->file.TakeName();
}

}  // namespace ge::tool
