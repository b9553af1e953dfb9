// Declared for the bridge in ports.rs; the records are declared there.
#pragma once
#include <memory>
