#include "passes/grad/train/settings.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "passes/grad/entry.h"
#include "passes/grad/train/optimizer.h"

namespace ge::grad {
namespace {

// -1 where the optimizer's own default counts.
const ge_attr_def kSettings[] = {TextSetting("entry", ""),
                                 TextSetting("output", ""),
                                 TextSetting("loss", "none"),
                                 TextSetting("optimizer", "sgd"),
                                 TextSetting("schedule", "constant"),
                                 TextSetting("freeze", ""),
                                 TextSetting("tie", ""),
                                 TextSetting("untie", ""),
                                 TextSetting("remat", "none"),
                                 TextSetting("loop-checkpoint", "none"),
                                 TextSetting("precision", "f32"),
                                 TextSetting("loss-scale", "none"),
                                 NumberSetting("lr", 1e-3),
                                 NumberSetting("lr-min", 0),
                                 NumberSetting("decay", 0.1),
                                 NumberSetting("power", 1),
                                 NumberSetting("momentum", 0),
                                 NumberSetting("weight-decay", 0),
                                 NumberSetting("beta1", 0.9),
                                 NumberSetting("beta2", -1),
                                 NumberSetting("eps", -1),
                                 NumberSetting("alpha", 0.99),
                                 NumberSetting("trust", 1e-3),
                                 NumberSetting("clip", 0),
                                 NumberSetting("ema", 0),
                                 CountSetting("steps", 0),
                                 CountSetting("every", 0),
                                 CountSetting("warmup", 0),
                                 CountSetting("accumulate", 1),
                                 CountSetting("seed", 1),
                                 CountSetting("scale-every", 2000),
                                 CountSetting("nesterov", 0),
                                 CountSetting("update", 0),
                                 CountSetting("init", 0),
                                 CountSetting("rows", 0)};
constexpr uint32_t kSettingCount = sizeof kSettings / sizeof kSettings[0];

const ge_attr& Setting(const ge_edit* e, std::string_view name) {
  for (uint32_t i = 0; i < kSettingCount && i < e->n_option; ++i) {
    if (plugin::View(kSettings[i].value.name) == name) return e->option[i];
  }
  throw Refusal{GE_INTERNAL, "option '" + std::string(name) + "' is not there"};
}

std::string OneOf(const ge_edit* e, const char* option, const std::vector<std::string>& known) {
  const std::string found(plugin::View(Setting(e, option).s));
  std::string list;
  for (const std::string& name : known) {
    if (name == found) return found;
    list += (list.empty() ? "" : &name == &known.back() ? " or " : ", ") + name;
  }
  throw Refusal{GE_INVALID_ARGUMENT, std::string(option) + " is '" + found + "', wanted " + list};
}

double Within(const ge_edit* e, const char* option, double least, double below) {
  const double v = Setting(e, option).f;
  if (v >= least && v < below) return v;
  throw Refusal{GE_INVALID_ARGUMENT,
                std::string(option) + " is " + std::to_string(v) + ", wanted a number from " +
                    std::to_string(least) +
                    (std::isinf(below) ? " on" : " to below " + std::to_string(below))};
}

int64_t AtLeast(const ge_edit* e, const char* option, int64_t least) {
  const int64_t v = Setting(e, option).i;
  if (v >= least) return v;
  throw Refusal{GE_INVALID_ARGUMENT, std::string(option) + " is " + std::to_string(v) +
                                         ", wanted " + std::to_string(least) + " or more"};
}

void ReadNumbers(const ge_edit* e, TrainSettings* s) {
  constexpr double kAny = HUGE_VAL;
  s->lr = Within(e, "lr", 0, kAny);
  s->lr_min = Within(e, "lr-min", 0, kAny);
  s->decay = Within(e, "decay", 0, kAny);
  s->power = Within(e, "power", 0, kAny);
  s->momentum = Within(e, "momentum", 0, 1);
  s->weight_decay = Within(e, "weight-decay", 0, kAny);
  s->beta1 = Within(e, "beta1", 0, 1);
  s->alpha = Within(e, "alpha", 0, 1);
  s->trust = Within(e, "trust", 0, kAny);
  s->clip = Within(e, "clip", 0, kAny);
  s->ema = Within(e, "ema", 0, 1);
  if (Setting(e, "beta2").f != -1) s->beta2 = Within(e, "beta2", 0, 1);
  if (Setting(e, "eps").f != -1) s->eps = Within(e, "eps", 0, kAny);
  s->accumulate = AtLeast(e, "accumulate", 1);
  s->warmup = AtLeast(e, "warmup", 0);
  s->steps = AtLeast(e, "steps", 0);
  s->every = AtLeast(e, "every", 0);
  s->update = AtLeast(e, "update", 0) != 0;
  s->init = AtLeast(e, "init", 0) != 0;
  s->seed = Setting(e, "seed").i;
  s->nesterov = AtLeast(e, "nesterov", 0) != 0;
}

// loss-scale: none, dynamic, or a number.
void ReadPrecision(const ge_edit* e, TrainSettings* s) {
  const std::string precision = OneOf(e, "precision", {"f32", "f16", "bf16"});
  s->precision = precision == "f16" ? GE_F16 : precision == "bf16" ? GE_BF16 : 0;
  s->scale_every = AtLeast(e, "scale-every", 1);
  const std::string text(plugin::View(Setting(e, "loss-scale").s));
  if (text == "none") return;
  s->scale_moves = text == "dynamic";
  constexpr double kFirst = 65536, kMost = 0x1p126;
  char* end = nullptr;
  s->scale = s->scale_moves ? kFirst : std::strtod(text.c_str(), &end);
  const bool number = s->scale_moves || (!text.empty() && *end == 0);
  if (number && s->scale >= 1 && s->scale <= kMost) return;
  throw Refusal{GE_INVALID_ARGUMENT,
                "loss-scale is '" + text + "', wanted none, dynamic or a number from 1 to 2^126"};
}

}  // namespace

const ge_attr_def* TrainOptions(uint32_t* n) {
  *n = kSettingCount;
  return kSettings;
}

TrainSettings ReadTrainSettings(const ge_edit* edit) {
  TrainSettings s;
  s.entry = plugin::View(Setting(edit, "entry").s);
  s.output = plugin::View(Setting(edit, "output").s);
  s.loss = OneOf(edit, "loss", {"softmax-ce", "mse", "bce", "none"});
  s.optimizer = OneOf(edit, "optimizer", OptimizerNames());
  s.schedule = OneOf(edit, "schedule", {"constant", "step", "cosine", "poly", "one-cycle"});
  s.freeze = Listed(std::string(plugin::View(Setting(edit, "freeze").s)));
  s.tie = Listed(std::string(plugin::View(Setting(edit, "tie").s)));
  s.untie = Listed(std::string(plugin::View(Setting(edit, "untie").s)));
  s.remat =
      RematPolicy::Of(std::string(plugin::View(Setting(edit, "remat").s)), Setting(edit, "rows").i);
  s.checkpoint = LoopCheckpoint::Of(std::string(plugin::View(Setting(edit, "loop-checkpoint").s)));
  const OptimizerDefaults own = DefaultsOf(s.optimizer);
  s.beta2 = own.beta2;
  s.eps = own.eps;
  ReadNumbers(edit, &s);
  ReadPrecision(edit, &s);
  const bool long_run = s.schedule != "constant" && s.schedule != "step";
  if (long_run && s.steps <= s.warmup + 1) {
    throw Refusal{GE_INVALID_ARGUMENT, "schedule " + s.schedule +
                                           " needs steps, how many updates there will be: it is " +
                                           std::to_string(s.steps) + ", wanted more than " +
                                           std::to_string(s.warmup + 1)};
  }
  if (s.schedule == "step" && s.every < 1) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "schedule step needs every, after how many updates lr is multiplied by decay"};
  }
  if (s.nesterov && (s.momentum == 0 || (s.optimizer != "sgd" && s.optimizer != "lars"))) {
    throw Refusal{GE_INVALID_ARGUMENT, "nesterov is of sgd and lars with a momentum above 0"};
  }
  if (s.update && (s.accumulate > 1 || s.scale > 0)) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "update=1 goes with neither accumulate nor loss-scale: the entry takes gradients "
                  "that somebody has added up and divided already"};
  }
  return s;
}

bool FitsPattern(std::string_view name, std::string_view pattern) {
  size_t n = 0, p = 0, star = std::string_view::npos, tried = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      tried = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++tried;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace ge::grad
