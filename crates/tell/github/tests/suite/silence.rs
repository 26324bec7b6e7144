//! Tests a server that accepts connections and sends nothing.

use std::io::Read;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use metalens_github::{Api, ApiRequest, Client, Error, Method, Timeouts, Token};

static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
static NOTICES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The user learns what the client waits for, and the client gives up soon.
#[test]
fn silence_is_reported_and_bounded() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: curl is missing");
        return;
    }

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let api = Api::parse(&address).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            CONNECTIONS.fetch_add(1, Ordering::SeqCst);
            // The thread reads until the client gives up.
            let mut stream = stream.unwrap();
            thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });

    let token = Token::new("ghp_secret").unwrap();
    let client = Client::new(api.clone(), token)
        .with_notices(|text| NOTICES.lock().unwrap().push(text.to_owned()))
        .with_timeouts(Timeouts {
            notice_after: Duration::ZERO,
            stalled_after: Duration::from_secs(1),
        });
    let error = client.send(&ApiRequest {
        method: Method::Get,
        url: format!("{address}/repos/o/r/pulls/7"),
        body: None,
        is_repeatable: true,
    });

    assert!(
        matches!(error, Err(Error::NoAnswer { code: 28, .. })),
        "{error:?}"
    );

    assert_eq!(CONNECTIONS.load(Ordering::SeqCst), 2);

    let request = "GET /repos/o/r/pulls/7";
    assert_eq!(
        *NOTICES.lock().unwrap(),
        [
            format!("waiting for an answer to {request}"),
            format!("no answer to {request}: trying again"),
            format!("waiting for an answer to {request}"),
        ]
    );
}
