// See push.d.ts and docs/push.md.

const later = ({ headers }) => {  // [ms]
  const text = headers.get('Retry-After');
  return text * 1000 || Date.parse(text) - Date.now();
};
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class Push {
  #options; #url; #retry; #abort; #wake; #now; #closed;
  #online = () => this.reconnect();

  constructor(url, options = {}) {
    this.#options = { transports: ['websocket', 'sse', 'long_poll'], timeout: 8000, silence: 65000, retry: 1000, ...options };
    this.#url = new URL(url, globalThis.location?.href);
    this.#retry = this.#options.retry;
    this.id = options.lastId;
    // It may be dead unnoticed
    globalThis.addEventListener?.('online', this.#online);
    queueMicrotask(() => this.#run());
  }

  reconnect() {
    this.#now = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  close(detail) {
    if (this.#closed) return;
    this.#closed = true;
    globalThis.removeEventListener?.('online', this.#online);
    this.reconnect();
    this.#become('closed', detail);
  }

  async send(body, { contentType, event, timeout = 30000 } = {}) {
    const { init } = this.#options, headers = new Headers(init?.headers), end = Date.now() + timeout;
    headers.set('Accept', 'application/json');
    if (contentType) headers.set('Content-Type', contentType);
    if (event) headers.set('X-EventSource-Event', event);
    for (;;) {
      const answer = await fetch(this.#url, { ...init, method: 'POST', body, headers, signal: AbortSignal.timeout(Math.max(0, end - Date.now())) });
      if (answer.ok) return answer.json();
      const { status } = answer, after = later(answer);
      if (![429, 503].includes(status) || !(after >= 0) || Date.now() + after >= end)
        throw Object.assign(Error('not published'), { status, after });
      await new Promise(resolve => setTimeout(resolve, after));
    }
  }

  async #run() {
    const { transports, timeout, silence } = this.#options;
    const proven = {};
    let at = 0, fails = 0, shares, opens, began;
    while (!this.#closed) {
      const name = this.transport = transports[at];
      if (!at) began = Date.now();
      const abort = this.#abort = new AbortController();
      const before = this.id;
      let opened, heard, timer, problem;
      const limit = ms => {
        clearTimeout(timer);
        timer = ms && setTimeout(() => abort.abort(), ms);
      };
      const alive = (answers = true) => {
        if (abort.signal.aborted) return;
        heard ||= answers;
        // Pages see pings late, and no polls repeated for a 408
        if (!shares) limit(silence * (name == 'sse' || 2));
        if (at && Date.now() - began > 6e5) {  // does the first work now?
          at = 0;
          return this.reconnect();
        }
        if (!opened) {
          opened = Date.now();
          if (this.state != 'open') this.#become('open');
        }
      };
      this.#now = false;
      const was = shares;
      shares = name != 'websocket' && !await this.#seat(abort.signal);
      if (this.#now) continue;
      if (!was || !opens) this.#become('connecting');
      limit(shares ? 1500 : timeout);
      try {
        await this['_' + (shares ? 'long_poll' : name)](abort.signal, alive);
      } catch (error) {
        problem = error;
      }
      limit();
      abort.abort();  // gives the seat away
      opens = opened;
      if (this.#now) continue;
      const { status, after } = problem ?? {};
      if (shares && opened && !status) {
        await this.#sleep(2000);
        continue;
      }
      if ([401, 403, 404, 410].includes(status)) return this.close({ status });
      const worked = heard && (this.id != before || Date.now() - opened > 5000);
      if (worked) {
        proven[name] = true;
        fails = 0;
      }
      if (worked || after > 0) at = Math.max(0, transports.findIndex(name => proven[name]));
      else if (!proven[name] || fails % 3 == 2) {
        at = (at + 1) % transports.length;
        if (at) continue;  // all are tried before a pause
      }
      const offline = globalThis.navigator?.onLine === false;
      const random = Math.random();
      const wait = after > 0 ? after * (1 + random / 4) : Math.min(this.#retry * 2 ** fails++, 30000) * (random + .5);
      this.#become(offline ? 'offline' : 'waiting', { status, wait });
      if (!this.#now) await this.#sleep(offline ? 60000 : wait);
    }
  }

  #become(state, detail) {
    this.state = state;
    this.#call('onstate', state, { transport: this.transport, ...detail });
  }

  // Over HTTP/1.1 a browser has six connections to a host, for all its tabs together; streams may have four. Who has none of
  // those polls briefly now and then.
  async #seat(signal) {
    const locks = globalThis.navigator?.locks;
    if (!locks || /^h[23]/.test(performance.getEntriesByType('navigation')[0]?.nextHopProtocol)) return true;
    for (let seat = 0; seat < 4; seat++) {
      const mine = await new Promise(resolve => locks.request(`push ${seat} ${this.#url.host}`, { ifAvailable: true }, lock => {
        resolve(lock && !signal.aborted);
        return lock && new Promise(leave => signal.aborted ? leave() : signal.addEventListener('abort', leave));
      }));
      if (mine) return true;
    }
  }

  // What a callback throws ends no connection.
  #call(name, ...values) {
    try {
      this.#options[name]?.(...values);
    } catch (error) {
      setTimeout(() => { throw error; });
    }
  }

  #sleep(ms) {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, Math.min(ms, 2e9));
      this.#wake = () => { clearTimeout(timer); resolve(); };
    });
  }

  // Without data: only the id is news.
  #deliver(signal, id, data, event, contentType) {
    if (signal.aborted) return;
    if (id) this.id = id;
    if (event == 'gap') this.#call('ongap', JSON.parse(data));
    else if (data != null) this.#call('onmessage', data, { id, event, contentType });
  }

  #address() {
    const url = new URL(this.#url);
    if (this.id) url.searchParams.set('last_event_id', this.id);
    return url.href;
  }

  async #get(signal, Accept) {
    const { init } = this.#options;
    const headers = new Headers(init?.headers);
    headers.set('Accept', Accept);
    const answer = await fetch(this.#address(), { cache: 'no-store', ...init, headers, signal });
    if (![200, 304, 408].includes(answer.status)) throw { status: answer.status, after: later(answer) };
    return answer;
  }

  _websocket(signal, alive) {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(this.#address().replace('http', 'ws'), ['ws+meta.nchan', 'position']);
      socket.binaryType = 'arraybuffer';
      signal.onabort = () => { socket.close(); reject(); };
      if (signal.aborted) signal.onabort();
      socket.onopen = () => alive();
      socket.onclose = ({ reason }) => reject({ status: parseInt(reason) });
      // "name: value" lines, an empty one, the message
      socket.onmessage = ({ data }) => {
        const text = typeof data == 'string' ? data : new TextDecoder('latin1').decode(data);
        const end = text.indexOf('\n\n');
        alive();
        if (!end) return;  // with each ping
        const fields = Object.fromEntries(text.slice(0, end).split('\n').map(line => line.split(/: (.*)/)));
        this.#deliver(signal, fields.id ?? fields.position, fields.id && data.slice(end + 2), fields.event, fields['content-type']);
      };
    });
  }

  async _sse(signal, alive) {
    const answer = await this.#get(signal, 'text/event-stream');
    if (!/^text\/event-stream/.test(answer.headers.get('Content-Type'))) throw answer;
    const reader = answer.body.getReader(), decoder = new TextDecoder();
    let rest = '', id, event, data;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();  // the head alone proves nothing
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r?\n/);
      rest = lines.pop();
      for (const line of lines) {
        const [, name, value] = /^([^:]*):? ?(.*)/s.exec(line);
        if (line.startsWith(': position ')) this.#deliver(signal, line.slice(11));
        else if (name == 'data') (data ??= []).push(value);
        else if (name == 'id') id = value;
        else if (name == 'event') event = value;
        else if (name == 'retry') this.#retry = +value || this.#retry;
        else if (!line) {
          this.#deliver(signal, id, data?.join('\n'), event);
          event = data = undefined;
        }
      }
    }
  }

  async _long_poll(signal, alive) {
    while (!signal.aborted) {
      const asked = Date.now();
      const held = setTimeout(alive, 1000, false);  // or swallowed
      const answer = await this.#get(signal, '*/*').finally(() => clearTimeout(held));
      const { headers } = answer, missed = headers.get('Push-Gap'), contentType = headers.get('Content-Type');
      const time = Date.parse(headers.get('Last-Modified')) / 1000;
      const tag = headers.get('Etag')?.replace(/^W\/|"/g, '');
      const id = time >= 0 && tag ? time + ':' + tag : this.id;
      let data;
      if (answer.status == 200) {
        if (id == this.id) throw answer;  // again and again
        data = await answer.arrayBuffer();
        if (contentType != 'application/octet-stream')
          try { data = strict.decode(data); } catch {}
      }
      alive();
      if (missed && !signal.aborted) this.#call('ongap', { after: this.id, missed: +missed || null });
      this.#deliver(signal, id, data, headers.get('X-EventSource-Event'), contentType);
      if (data == null && Date.now() - asked < 1000) await this.#sleep(this.#retry);
    }
  }
}

globalThis.Push = Push;
