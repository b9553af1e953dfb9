//! Enabling and disabling NDK.

use std::collections::VecDeque;

/// Whether NDK is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NdkState {
    /// Instances can be opened.
    Enabled,
    /// It is being disabled: no instance can be opened any more; those that are open work on until their consumers, told
    /// to, have closed them.
    Disabling,
    /// No instance is open, and none can be opened.
    Disabled,
}

/// An announcement to the layers above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetEvent {
    /// NDK is there: consumers may open instances.
    #[doc(alias = "NetEventNDKEnable")]
    NdkEnable,
    /// NDK goes: consumers have to close their instances.
    #[doc(alias = "NetEventNDKDisable")]
    NdkDisable,
}

/// The state, and what is still to be announced of it.
#[derive(Debug)]
pub(super) struct StateControl {
    state: NdkState,
    /// While it is being disabled: whether it is to be enabled afterwards.
    again: bool,
    events: VecDeque<NetEvent>,
}

impl StateControl {
    pub(super) fn new(enabled: bool) -> Self {
        Self {
            state: if enabled {
                NdkState::Enabled
            } else {
                NdkState::Disabled
            },
            again: false,
            events: VecDeque::new(),
        }
    }

    pub(super) fn state(&self) -> NdkState {
        self.state
    }

    /// Enables or disables, with so many instances open.
    pub(super) fn set(&mut self, enable: bool, instances: usize) {
        match (self.state, enable) {
            (NdkState::Enabled, false) => {
                self.state = NdkState::Disabling;
                self.events.push_back(NetEvent::NdkDisable);
                self.instances_left(instances);
            }
            (NdkState::Disabled, true) => self.enable(),
            (NdkState::Disabling, again) => self.again = again,
            (NdkState::Enabled, true) | (NdkState::Disabled, false) => {}
        }
    }

    /// An instance was closed, so many are left.
    pub(super) fn instances_left(&mut self, instances: usize) {
        if self.state == NdkState::Disabling && instances == 0 {
            self.state = NdkState::Disabled;
            if std::mem::take(&mut self.again) {
                self.enable();
            }
        }
    }

    pub(super) fn next_event(&mut self) -> Option<NetEvent> {
        self.events.pop_front()
    }

    fn enable(&mut self) {
        self.state = NdkState::Enabled;
        self.events.push_back(NetEvent::NdkEnable);
    }
}
