//! The worlds.

use super::world::{Ends, Faults, Key, Lane, Request, Shared, Window, World};

/// All worlds, small ones first.
pub static WORLDS: &[World] = &[
    World {
        name: "send",
        doc: "two sends, one of them of two packets; one fault",
        lanes: &[Lane {
            a: &[Request::send(300), Request::send(20)],
            b: &[],
        }],
        faults: Faults::all(1),
        ..World::PLAIN
    },
    World {
        name: "fence",
        doc: "a read, a fenced write, a send; two faults",
        lanes: &[Lane {
            a: &[
                Request::read(0, 300),
                Request::write(1, 20).fenced(),
                Request::send(20),
            ],
            b: &[],
        }],
        faults: Faults::all(2),
        ..World::PLAIN
    },
    World {
        name: "tokens",
        doc: "one queue pair writes through a token while another one's send invalidates it; two faults",
        lanes: &[
            Lane {
                a: &[Request::write(0, 300)],
                b: &[],
            },
            Lane {
                a: &[Request::send_invalidate(0, 0)],
                b: &[],
            },
        ],
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "sink",
        doc: "a read that invalidates the token of its sink, which the peer writes through; one fault",
        lanes: &[Lane {
            a: &[Request::read(0, 300).into_region(0), Request::send(20)],
            b: &[Request::write(0, 20)],
        }],
        faults: Faults::all(1),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "empty",
        doc: "a read of no bytes that invalidates the token of its sink, which the peer writes through on another queue pair; two faults",
        lanes: &[
            Lane {
                a: &[Request::read(0, 0).into_region(0)],
                b: &[],
            },
            Lane {
                a: &[],
                b: &[Request::write(0, 300)],
            },
        ],
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "refused",
        doc: "a write, a send that invalidates its token, and a write that comes too late; two faults",
        lanes: &[Lane {
            a: &[
                Request::write(0, 20),
                Request::send_invalidate(0, 0),
                Request::write(0, 20),
            ],
            b: &[],
        }],
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "invalidate",
        doc: "a write, a read of what it wrote, and a send that invalidates the token of both; one fault",
        lanes: &[Lane {
            a: &[
                Request::write(0, 300),
                Request::read(0, 300),
                Request::send_invalidate(0, 20),
            ],
            b: &[],
        }],
        faults: Faults::all(1),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "lanes",
        doc: "two queue pairs, a send on one, a silent read and a fenced write on the other; two faults",
        lanes: &[
            Lane {
                a: &[Request::send(300)],
                b: &[],
            },
            Lane {
                a: &[
                    Request::read(0, 300).silent(),
                    Request::write(1, 20).fenced(),
                ],
                b: &[],
            },
        ],
        faults: Faults::all(2),
        ..World::PLAIN
    },
    World {
        name: "receives",
        doc: "two sends whose receives are posted at any time, and a write; one fault",
        lanes: &[Lane {
            a: &[Request::send(300), Request::write(0, 20), Request::send(20)],
            b: &[],
        }],
        faults: Faults::all(1),
        late_receives: true,
        rnr_retry: 2,
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "failing",
        doc: "a send, a read and a write whose retries are not enough; two faults",
        lanes: &[Lane {
            a: &[
                Request::send(300),
                Request::read(0, 20),
                Request::write(1, 20),
            ],
            b: &[],
        }],
        faults: Faults::all(2),
        retry_cnt: 1,
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "duplex",
        doc: "both nodes send and write to each other; one fault",
        lanes: &[Lane {
            a: &[Request::send(20), Request::write(0, 20)],
            b: &[Request::send(20), Request::write(0, 20)],
        }],
        faults: Faults::all(1),
        symmetric: true,
        ..World::PLAIN
    },
    World {
        name: "crossing",
        doc: "both nodes read from each other and send; one fault",
        lanes: &[Lane {
            a: &[Request::read(0, 20), Request::send(20)],
            b: &[Request::read(0, 20), Request::send(20)],
        }],
        faults: Faults::all(1),
        symmetric: true,
        ..World::PLAIN
    },
    World {
        name: "timers",
        doc: "a send and a write of two packets; two timers that end too early, and one fault",
        lanes: &[Lane {
            a: &[Request::send(20), Request::write(0, 300)],
            b: &[],
        }],
        faults: Faults::all(1),
        hasty_timers: 2,
        retry_cnt: 4,
        ..World::PLAIN
    },
    World {
        name: "sends",
        doc: "three sends, one of two packets and one of no bytes; two faults",
        lanes: &[Lane {
            a: &[Request::send(20), Request::send(300), Request::send(0)],
            b: &[],
        }],
        faults: Faults::all(2),
        ..World::PLAIN
    },
    World {
        name: "reads",
        doc: "two reads and a send; two faults",
        lanes: &[Lane {
            a: &[
                Request::read(0, 300),
                Request::read(1, 20),
                Request::send(20),
            ],
            b: &[],
        }],
        faults: Faults::all(2),
        ..World::PLAIN
    },
    World {
        name: "window",
        doc: "a bind and a send that tells of it, then the peer writes through the window and its send invalidates it; two faults",
        lanes: &[Lane {
            a: &[Request::bind(0), Request::send(20)],
            b: &[
                Request::write(0, 20).through(Key::Window(0)).after(1),
                Request::send_invalidate(0, 0).through(Key::Window(0)),
            ],
        }],
        windows: &[Window {
            region: 0,
            bytes: (0, 20),
            read: false,
            write: true,
        }],
        faults: Faults::all(2),
        ..World::PLAIN
    },
    World {
        name: "bounds",
        doc: "a window that is bound and invalidated, a write to it at any time, and a write beyond its end; two faults",
        lanes: &[Lane {
            a: &[
                Request::write(0, 20).through(Key::Window(0)),
                Request::write(0, 20).through(Key::Window(0)),
            ],
            b: &[Request::bind(0), Request::invalidate(Key::Window(0))],
        }],
        windows: &[Window {
            region: 0,
            bytes: (0, 20),
            read: true,
            write: true,
        }],
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "rights",
        doc: "two windows, a write to one that may only be read, and a write to the other one on a queue pair that is not its own; one fault",
        lanes: &[
            Lane {
                a: &[
                    Request::write(0, 20).through(Key::Window(0)),
                    Request::write(1, 20).through(Key::Window(1)),
                ],
                b: &[Request::bind(0), Request::bind(1)],
            },
            Lane {
                a: &[Request::write(0, 20).through(Key::Window(0))],
                b: &[],
            },
        ],
        windows: &[
            Window {
                region: 0,
                bytes: (0, 40),
                read: false,
                write: true,
            },
            Window {
                region: 1,
                bytes: (0, 20),
                read: true,
                write: false,
            },
        ],
        faults: Faults::all(1),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "register",
        doc: "two registrations and a send from the second region, then the peer writes to the first and its send invalidates it; one fault",
        lanes: &[Lane {
            a: &[
                Request::register(Key::Region(0)),
                Request::register(Key::Region(1)),
                Request::send(20).from(Key::Region(1)),
            ],
            b: &[
                Request::write(0, 300).after(1),
                Request::send_invalidate(0, 0),
            ],
        }],
        faults: Faults::all(1),
        ..World::PLAIN
    },
    World {
        name: "again",
        doc: "a silent invalidation, a registration of the same region with other pages and a send that tells of it; the peer writes with the old key and with the new one; one fault",
        lanes: &[
            Lane {
                a: &[
                    Request::invalidate(Key::Region(0)).silent(),
                    Request::register(Key::Again(0)),
                    Request::send(0),
                ],
                b: &[Request::write(0, 20).through(Key::Again(0)).after(1)],
            },
            Lane {
                a: &[],
                b: &[Request::write(0, 20)],
            },
        ],
        faults: Faults::all(1),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "drain",
        doc: "a send from a region, and its invalidation while the peer reads it; reads of payload are answered late; two faults",
        lanes: &[
            Lane {
                a: &[Request::read(0, 300)],
                b: &[],
            },
            Lane {
                a: &[],
                b: &[
                    Request::send(20).from(Key::Region(0)),
                    Request::invalidate(Key::Region(0)),
                ],
            },
        ],
        late_gathers: true,
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "returned",
        doc: "a send invalidates a token while another queue pair reads through it; reads of payload are answered late; two faults",
        lanes: &[
            Lane {
                a: &[Request::read(0, 300)],
                b: &[],
            },
            Lane {
                a: &[Request::send_invalidate(0, 0)],
                b: &[],
            },
        ],
        late_gathers: true,
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "sunk",
        doc: "a read of no bytes that invalidates the token of its sink while the peer reads through it on another queue pair; reads of payload are answered late; two faults",
        lanes: &[
            Lane {
                a: &[Request::read(0, 0).into_region(0)],
                b: &[],
            },
            Lane {
                a: &[],
                b: &[Request::read(0, 300)],
            },
        ],
        late_gathers: true,
        faults: Faults::all(2),
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "shared",
        doc: "a shared receive queue, sends on two queue pairs, and a limit that is armed twice; one fault",
        lanes: &[
            Lane {
                a: &[Request::send(300)],
                b: &[],
            },
            Lane {
                a: &[Request::send(20)],
                b: &[],
            },
        ],
        shared: Some(Shared {
            receives: 2,
            limit: 2,
            arms: 2,
        }),
        faults: Faults::all(1),
        ..World::PLAIN
    },
    World {
        name: "short",
        doc: "a shared receive queue whose receives are posted at any time, a limit, and sends on two queue pairs; one fault",
        lanes: &[
            Lane {
                a: &[Request::send(300)],
                b: &[],
            },
            Lane {
                a: &[Request::send(20)],
                b: &[],
            },
        ],
        shared: Some(Shared {
            receives: 2,
            limit: 1,
            arms: 2,
        }),
        faults: Faults::all(1),
        late_receives: true,
        rnr_retry: 2,
        ends: Ends::Any,
        ..World::PLAIN
    },
    World {
        name: "letgo",
        doc: "a shared receive queue, a queue pair that fails and perhaps has taken a receive of it, and a send on another one; no fault",
        lanes: &[
            Lane {
                a: &[Request::send(300)],
                b: &[Request::write(0, 20).through(Key::Window(0))],
            },
            Lane {
                a: &[Request::send(20)],
                b: &[],
            },
        ],
        windows: &[Window {
            region: 0,
            bytes: (0, 20),
            read: true,
            write: true,
        }],
        shared: Some(Shared {
            receives: 2,
            limit: 0,
            arms: 0,
        }),
        ends: Ends::Any,
        ..World::PLAIN
    },
];
