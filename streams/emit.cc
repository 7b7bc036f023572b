#include "streams/emit.h"

#include <algorithm>

namespace ge::streams {
namespace {

class Emitter {
 public:
  Emitter(const Plan& plan, const std::vector<Task>& tasks, const Schedule& schedule)
      : plan_(plan),
        tasks_(tasks),
        schedule_(schedule),
        k_(static_cast<uint32_t>(schedule.streams.size())),
        now_(size_t{k_} * k_),
        finish_(tasks.size() * size_t{k_}),
        index_(tasks.size()),
        issued_(tasks.size()),
        waits_(tasks.size() + 1),
        signalled_(tasks.size()) {}

  void Run(PlanFunction* f) {
    FindWaits();
    f->streams = schedule_.streams;
    f->events.clear();
    std::vector<uint32_t> event(k_, UINT32_MAX);    // by stream
    std::vector<uint64_t> value(k_);                // by stream: last signalled
    std::vector<uint64_t> value_of(tasks_.size());  // by task: value of the signal behind it
    std::vector<Instruction> code;
    const auto emit_waits = [&](const std::vector<Wait>& waits) {
      for (const Wait& w : waits) {
        Instruction in;
        in.op = PlanOp::kWait;
        in.stream = w.waiter;
        in.event = event[schedule_.stream[w.task]];
        in.event_value = value_of[w.task];
        code.push_back(std::move(in));
      }
    };
    for (uint32_t t : schedule_.order) {
      emit_waits(waits_[t]);
      const uint32_t s = schedule_.stream[t];
      code.push_back(std::move(f->code[t]));
      code.back().stream = s;
      if (!signalled_[t]) continue;
      if (event[s] == UINT32_MAX) {
        event[s] = static_cast<uint32_t>(f->events.size());
        f->events.push_back({Engine(s)});
      }
      Instruction in;
      in.op = PlanOp::kSignal;
      in.stream = s;
      in.event = event[s];
      in.event_value = value_of[t] = ++value[s];
      code.push_back(std::move(in));
    }
    emit_waits(waits_.back());
    f->code = std::move(code);
  }

 private:
  struct Wait {
    uint32_t waiter, task;
  };

  uint32_t Engine(uint32_t s) const { return plan_.devices[schedule_.streams[s].device].engine; }
  uint32_t* Now(uint32_t s) { return &now_[size_t{s} * k_]; }
  uint32_t* Finish(uint32_t t) { return &finish_[size_t{t} * k_]; }
  void Join(uint32_t* into, const uint32_t* other) const {
    for (uint32_t s = 0; s < k_; ++s) into[s] = std::max(into[s], other[s]);
  }
  // Task t has finished as far as `clock` knows.
  bool Known(const uint32_t* clock, uint32_t t) const {
    return clock[schedule_.stream[t]] > index_[t];
  }

  void FindWaits() {
    std::vector<uint32_t> count(k_);
    std::vector<uint32_t> last(k_, UINT32_MAX);
    uint32_t position = 0;
    for (uint32_t t : schedule_.order) {
      const uint32_t s = schedule_.stream[t];
      issued_[t] = position++;
      Order(tasks_[t].before, s, &waits_[t]);
      index_[t] = count[s]++;
      Now(s)[s] = index_[t] + 1;
      std::copy(Now(s), Now(s) + k_, Finish(t));
      last[s] = t;
    }
    std::vector<uint32_t> ends;
    for (uint32_t s = 1; s < k_; ++s) {
      if (last[s] != UINT32_MAX) ends.push_back(last[s]);
    }
    Order(ends, 0, &waits_.back());
  }

  // Makes all of `before` known to stream s, by waits of the host where s cannot wait itself.
  void Order(std::vector<uint32_t> before, uint32_t s, std::vector<Wait>* waits) {
    // Last issued first: it may know the others, and what it knows through the host the host knows.
    std::sort(before.begin(), before.end(),
              [&](uint32_t a, uint32_t b) { return issued_[a] > issued_[b]; });
    const auto through_host = [&](uint32_t t) {
      return s == 0 || Engine(schedule_.stream[t]) != Engine(s);
    };
    for (const bool host : {true, false}) {
      for (uint32_t t : before) {
        if (schedule_.stream[t] == 0 || through_host(t) != host) continue;
        if (Known(Now(0), t) || Known(Now(s), t)) continue;
        const uint32_t waiter = host ? 0 : s;
        waits->push_back({waiter, t});
        signalled_[t] = true;
        Join(Now(waiter), Finish(t));
      }
    }
  }

  const Plan& plan_;
  const std::vector<Task>& tasks_;
  const Schedule& schedule_;
  const uint32_t k_;
  std::vector<uint32_t> now_;             // by stream: its clock; counts tasks
  std::vector<uint32_t> finish_;          // by task: the clock of its stream behind it
  std::vector<uint32_t> index_;           // by task: place in its stream
  std::vector<uint32_t> issued_;          // by task: place in issue order
  std::vector<std::vector<Wait>> waits_;  // by task, and for the end of the function
  std::vector<bool> signalled_;
};

}  // namespace

void Emit(const Plan& plan, const std::vector<Task>& tasks, const Schedule& schedule,
          PlanFunction* function) {
  Emitter(plan, tasks, schedule).Run(function);
}

}  // namespace ge::streams
