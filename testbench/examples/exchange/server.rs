//! The server: it writes each answer into the client's memory, and gives that back.

use std::net::SocketAddr;

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    AcceptParameters, ArmType, Connector, Cq, Listener, LocalToken, NdkError, NdkResultEx,
    Notification, NtStatus, OpFlags, OperationType, Pd, Provider, Qp, QpParameters, RemoteToken,
    Sge,
};

use crate::message::{Buffers, Request, content};

/// Contexts of calls that are complete later.
const ACCEPT: u64 = 1;
const DISCONNECT: u64 = 2;
/// Contexts of requests.
const RECEIVE: u64 = 10;
const WRITE: u64 = 11;
const ANSWER: u64 = 12;

/// What an answer may be long at most.
const LARGEST: usize = 1 << 16;

/// See the module.
pub struct Server {
    pd: Pd,
    cq: Cq,
    qp: Qp,
    /// Where answers are made: logical addresses, with the privileged token.
    answer: u64,
    token: LocalToken,
    buffers: Buffers,
    listener: Listener,
    connector: Option<Connector>,
    /// Whether the connection is ended and everything closed.
    pub is_done: bool,
}

impl Server {
    /// Creates everything, and listens.
    pub fn start<H: Hal>(nic: &mut Provider<H>, local: SocketAddr) -> Result<Self, NdkError> {
        let pd = nic.create_pd()?;
        let cq = nic.create_cq(64, 0)?;
        let qp = nic.create_qp(pd, &QpParameters::new(cq, cq))?;
        let answer = nic.hal_mut().allocate(LARGEST, 4096)?;
        let token = nic.privileged_memory_region_token(pd)?;
        let buffers = Buffers::new(nic, pd)?;
        let listener = nic.create_listener(0)?;
        nic.listen(listener, local)?;
        Ok(Self {
            pd,
            cq,
            qp,
            answer,
            token,
            buffers,
            listener,
            connector: None,
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
            Notification::Connect { connector, .. } => {
                self.connector = Some(connector);
                let said = nic.connection_data(connector)?.private_data;
                assert!(said.starts_with(b"exchange 1"));
                // Requests may come as soon as the client knows that it is accepted.
                nic.receive(self.qp, RECEIVE, &[self.buffers.incoming()])?;
                nic.arm_cq(self.cq, ArmType::Any)?;
                let parameters = AcceptParameters {
                    disconnect_event_context: Some(0),
                    ..AcceptParameters::default()
                };
                let status = nic.accept(connector, self.qp, &parameters, ACCEPT)?;
                assert_eq!(status, NtStatus::PENDING);
                Ok(())
            }
            Notification::Completed {
                request_context: ACCEPT,
                status,
            } => {
                assert_eq!(status, NtStatus::SUCCESS);
                Ok(())
            }
            Notification::Cq { cq, status, .. } if cq == self.cq => {
                assert_eq!(status, NtStatus::SUCCESS);
                for result in nic.poll_cq(self.cq)? {
                    self.result(nic, &result)?;
                }
                nic.arm_cq(self.cq, ArmType::Any)
            }
            Notification::Disconnect { connector, .. } => {
                nic.disconnect(connector, DISCONNECT).map(|_| ())
            }
            Notification::Completed {
                request_context: DISCONNECT,
                ..
            } => self.close(nic),
            _ => Ok(()),
        }
    }

    fn result<H: Hal>(
        &mut self,
        nic: &mut Provider<H>,
        result: &NdkResultEx,
    ) -> Result<(), NdkError> {
        if result.status == NtStatus::CANCELLED {
            // The receive that waited when the connection ended.
            return Ok(());
        }
        assert_eq!(result.status, NtStatus::SUCCESS, "{result:?}");
        if result.operation != OperationType::Receive {
            return Ok(());
        }
        let request = Request::from_bytes(&self.buffers.read(nic)?);
        // Its place is free again before the client can use it.
        nic.receive(self.qp, RECEIVE, &[self.buffers.incoming()])?;
        let bytes = content(request.number, request.length as usize);
        nic.hal_mut().write_memory(self.answer, &bytes)?;
        let sge = Sge {
            address: self.answer,
            length: request.length,
            token: self.token,
        };
        let token = RemoteToken(request.token);
        let flags = OpFlags::SILENT_SUCCESS | OpFlags::DEFER;
        nic.write(self.qp, WRITE, &[sge], request.address, token, flags)?;
        // Comes after the write, and takes the server's own right to it away.
        let flags = OpFlags::SEND_AND_SOLICIT_EVENT;
        nic.send_and_invalidate(self.qp, ANSWER, &[], flags, token)
    }

    fn close<H: Hal>(&mut self, nic: &mut Provider<H>) -> Result<(), NdkError> {
        if let Some(connector) = self.connector.take() {
            nic.close_connector(connector)?;
        }
        nic.close_listener(self.listener)?;
        nic.close_qp(self.qp)?;
        nic.close_cq(self.cq)?;
        nic.close_pd(self.pd)?;
        self.is_done = true;
        Ok(())
    }
}
