//! The client: it lends its memory for each answer, and takes it back with the answer.

use std::net::SocketAddr;

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    ArmType, ConnectRequest, Connector, Cq, Mr, MrUse, NdkError, NdkResultEx, Notification,
    NtStatus, OpFlags, OperationType, Pd, Provider, Qp, QpParameters, RemoteToken,
};

use crate::message::{Buffers, Request, content};

/// Contexts of calls that are complete later.
const CONNECT: u64 = 1;
const DISCONNECT: u64 = 2;
/// Contexts of requests.
const REGISTER: u64 = 10;
const SEND: u64 = 11;
const RECEIVE: u64 = 12;

/// What an answer may be long at most: the pages of the region.
const PAGES: u32 = 16;
const PAGE: u64 = 4096;

/// See the module.
pub struct Client {
    pd: Pd,
    cq: Cq,
    qp: Qp,
    /// The memory that is lent, page by page.
    region: Mr,
    pages: Vec<u64>,
    buffers: Buffers,
    connector: Connector,
    /// Lengths of the answers that are still to be asked for.
    to_ask: Vec<u32>,
    asked: Option<(Request, RemoteToken)>,
    /// Answers that came, and were right.
    pub answers: usize,
    /// Whether the connection is ended and everything closed.
    pub is_done: bool,
}

impl Client {
    /// Creates everything, and asks the server for a connection.
    pub fn start<H: Hal>(
        nic: &mut Provider<H>,
        local: SocketAddr,
        server: SocketAddr,
        lengths: &[u32],
    ) -> Result<Self, NdkError> {
        let pd = nic.create_pd()?;
        let cq = nic.create_cq(64, 0)?;
        let qp = nic.create_qp(pd, &QpParameters::new(cq, cq))?;
        let region = nic.create_mr(pd, MrUse::FastRegister)?;
        nic.initialize_fast_register_mr(region, PAGES, true)?;
        // Pages need not lie side by side; these are used last to first.
        let memory = nic
            .hal_mut()
            .allocate((u64::from(PAGES) * PAGE) as usize, PAGE)?;
        let pages = (0..u64::from(PAGES)).rev().map(|page| memory + page * PAGE);
        let pages = pages.collect();
        let buffers = Buffers::new(nic, pd)?;
        let connector = nic.create_connector()?;
        let request = ConnectRequest {
            private_data: b"exchange 1",
            ..ConnectRequest::to(server)
        };
        let status = nic.connect(connector, qp, local, &request, CONNECT)?;
        assert_eq!(status, NtStatus::PENDING);
        Ok(Self {
            pd,
            cq,
            qp,
            region,
            pages,
            buffers,
            connector,
            to_ask: lengths.iter().rev().copied().collect(),
            asked: None,
            answers: 0,
            is_done: false,
        })
    }

    /// Something happened.
    pub fn on<H: Hal>(
        &mut self,
        nic: &mut Provider<H>,
        told: &Notification,
    ) -> Result<(), NdkError> {
        match *told {
            Notification::Completed {
                request_context: CONNECT,
                status,
            } => {
                assert_eq!(status, NtStatus::SUCCESS, "the server accepts");
                nic.complete_connect(self.connector, None)?;
                self.ask(nic)
            }
            Notification::Cq { cq, status, .. } if cq == self.cq => {
                assert_eq!(status, NtStatus::SUCCESS);
                for result in nic.poll_cq(self.cq)? {
                    self.result(nic, &result)?;
                }
                Ok(())
            }
            Notification::Completed {
                request_context: DISCONNECT,
                status,
            } => {
                assert_eq!(status, NtStatus::SUCCESS, "both sides have disconnected");
                self.close(nic)
            }
            _ => Ok(()),
        }
    }

    /// Lends memory for the next answer, and asks for it.
    fn ask<H: Hal>(&mut self, nic: &mut Provider<H>) -> Result<(), NdkError> {
        let Some(length) = self.to_ask.pop() else {
            return nic.disconnect(self.connector, DISCONNECT).map(|_| ());
        };
        // Where the answer comes to, before it is asked for.
        nic.receive(self.qp, RECEIVE, &[self.buffers.incoming()])?;
        // The answer solicits an event: no other result is worth waking up for.
        nic.arm_cq(self.cq, ArmType::Solicited)?;
        let address = 0x5000_0000;
        let count = u64::from(length).div_ceil(PAGE) as usize;
        let pages = self.pages.get(..count).unwrap_or(&self.pages);
        // Nobody waits for it, and the hardware hears of it with the send.
        let flags = OpFlags::ALLOW_REMOTE_WRITE | OpFlags::SILENT_SUCCESS | OpFlags::DEFER;
        nic.fast_register(
            self.qp,
            REGISTER,
            self.region,
            pages,
            0,
            length.into(),
            address,
            flags,
        )?;
        let token = nic.remote_token_from_mr(self.region)?;
        let request = Request {
            number: self.answers as u32,
            length,
            address,
            token: token.0,
        };
        let outgoing = self.buffers.write(nic, &request.to_bytes())?;
        nic.send(self.qp, SEND, &[outgoing], OpFlags::NONE)?;
        self.asked = Some((request, token));
        Ok(())
    }

    fn result<H: Hal>(
        &mut self,
        nic: &mut Provider<H>,
        result: &NdkResultEx,
    ) -> Result<(), NdkError> {
        assert_eq!(result.status, NtStatus::SUCCESS, "{result:?}");
        if result.operation != OperationType::ReceiveAndInvalidate {
            return Ok(());
        }
        let Some((request, token)) = self.asked.take() else {
            panic!("an answer that nobody asked for");
        };
        // The server has given the memory back: it cannot write any more, and the data is ours.
        assert_eq!(result.type_specific_completion_output, u64::from(token.0));
        let mut expected = content(request.number, request.length as usize);
        for (page, expected) in self.pages.iter().zip(expected.chunks_mut(PAGE as usize)) {
            let mut bytes = vec![0; expected.len()];
            nic.hal_mut().read_memory(*page, &mut bytes)?;
            assert!(bytes == expected, "answer {} is another", request.number);
        }
        self.answers += 1;
        self.ask(nic)
    }

    fn close<H: Hal>(&mut self, nic: &mut Provider<H>) -> Result<(), NdkError> {
        nic.close_connector(self.connector)?;
        nic.close_qp(self.qp)?;
        nic.close_mr(self.region)?;
        nic.close_cq(self.cq)?;
        nic.close_pd(self.pd)?;
        self.is_done = true;
        Ok(())
    }
}
