//! A farm of one machine: Slurm's own programs, with a configuration, keys and ports of their own.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::until;

/// Processors that the farm believes to have.
const PROCESSORS: u32 = 2;

/// A farm; its programs end with it.
pub struct Farm {
    folder: tempfile::TempDir,
    /// Those that were started last come first.
    programs: Vec<Child>,
}

/// A program; Debian keeps daemons where users do not look.
fn program(name: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let mut found = folders
        .map(|folder| folder.join(name))
        .filter(|path| path.is_file());
    let found = found.next();
    Command::new(found.unwrap_or_else(|| panic!("{name} is not there: apt-get install slurm-wlm")))
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Farm {
    /// Starts it.
    pub fn new() -> Self {
        // A socket's path must be short.
        let folder = tempfile::Builder::new()
            .prefix("farm")
            .tempdir_in("/tmp")
            .unwrap();
        let mut farm = Self {
            folder,
            programs: Vec::new(),
        };
        for name in ["state", "spool"] {
            fs::create_dir(farm.path(name)).unwrap();
        }
        farm.configure();
        farm.start("munged", &farm.munge());
        until("munged listens", 20, || farm.path("munge.sock").exists());
        farm.start("slurmctld", &["-D".into()]);
        farm.start("slurmd", &["-D".into()]);
        let ready = || said(farm.command("sinfo").args(["--noheader", "--format=%T"])) == "idle";
        until(&format!("the farm is ready\n{}", farm.logs()), 30, ready);
        farm
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self) {
        let mut key = vec![0; 128];
        File::open("/dev/urandom")
            .unwrap()
            .read_exact(&mut key)
            .unwrap();
        fs::write(self.path("munge.key"), key).unwrap();
        fs::set_permissions(self.path("munge.key"), Permissions::from_mode(0o400)).unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap_or_default();
        let user = said(Command::new("id").arg("-un"));
        // Held until all are known, so that they differ.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [control, node] = ports.map(|port| port.local_addr().unwrap().port());
        let at = |name: &str| self.path(name).display().to_string();
        let text = format!(
            "ClusterName=test\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={control}\n\
             SlurmdPort={node}\n\
             SlurmUser={user}\n\
             SlurmdUser={user}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={}\n\
             CredType=cred/munge\n\
             StateSaveLocation={}\n\
             SlurmdSpoolDir={}\n\
             SlurmctldPidFile={}\n\
             SlurmdPidFile={}\n\
             SlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             SchedulerParameters=sched_interval=1\n\
             KillWait=2\n\
             ReturnToService=2\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={PROCESSORS} State=UNKNOWN\n\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            at("munge.sock"),
            at("state"),
            at("spool"),
            at("slurmctld.pid"),
            at("slurmd.pid"),
        );
        fs::write(self.path("slurm.conf"), text).unwrap();
    }

    fn munge(&self) -> Vec<String> {
        let files = ["socket", "key-file", "pid-file", "seed-file", "log-file"];
        let names = [
            "munge.sock",
            "munge.key",
            "munge.pid",
            "munge.seed",
            "munge.log",
        ];
        let options = files.iter().zip(names);
        options
            .map(|(option, name)| format!("--{option}={}", self.path(name).display()))
            .chain([
                "--foreground".into(),
                "--force".into(),
                "--num-threads=1".into(),
            ])
            .collect()
    }

    fn start(&mut self, name: &str, arguments: &[String]) {
        let log = |kind| File::create(self.path(&format!("{name}.{kind}"))).unwrap();
        let child = program(name)
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log("out"))
            .stderr(log("err"))
            .spawn()
            .unwrap();
        self.programs.insert(0, child);
    }

    /// One of Slurm's commands, asked of this farm.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        self.own(&mut command);
        command
    }

    /// Makes a command use this farm.
    pub fn own<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in ["PARTITION", "ACCOUNT", "QOS", "TIMELIMIT"] {
            command.env_remove(format!("SBATCH_{name}"));
        }
        command.env("SLURM_CONF", self.path("slurm.conf"))
    }

    /// Tasks that run or wait.
    pub fn active(&self) -> String {
        said(
            self.command("squeue")
                .args(["--noheader", "--array", "--format=%F_%K %T"]),
        )
    }

    /// What its programs have said, for a test that fails.
    pub fn logs(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.path(name)).unwrap_or_default();
        ["munged.err", "slurmctld.err", "slurmd.err"]
            .map(read)
            .concat()
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        let user = said(Command::new("id").arg("-un"));
        let _ = self
            .command("scancel")
            .args(["--full", "--signal=KILL", "--user", &user])
            .output();
        for program in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
        self.end_steps();
    }
}

impl Farm {
    /// What slurmd has started outlives it; its files are in the farm's folder.
    fn end_steps(&self) {
        let own = self.folder().display().to_string();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let name = entry.file_name().to_string_lossy().into_owned();
            let ours = String::from_utf8_lossy(&environment).contains(&own);
            if ours && let Ok(process) = name.parse::<u32>() {
                let kill = format!("kill -s KILL {process}");
                let _ = Command::new("sh")
                    .args(["-c", &kill])
                    .stderr(Stdio::null())
                    .status();
            }
        }
    }
}
