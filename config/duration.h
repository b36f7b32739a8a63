/* duration.h - moved to base/. */
#include "base/duration.h"
