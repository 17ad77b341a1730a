// Declarations of push.js. The manual is docs/push.md.

export type Transport = 'websocket' | 'sse' | 'long_poll';

/**
 * connecting: trying `transport`; open: listening; waiting: for the next attempt; offline: the same, but the browser says that it
 * has no network; closed: by close(), or because the server refused for good.
 */
export type State = 'connecting' | 'open' | 'waiting' | 'offline' | 'closed';

export interface MessageInfo {
  /** Names the message on every transport. */
  id: string;
  /** X-EventSource-Event of the publisher, if there was one. */
  event?: string | null;
  /** Content-Type of the publisher, if there was one. Server-sent events do not carry it. */
  contentType?: string | null;
}

export interface Gap {
  /** The id after which messages are missing; null where the server does not know it. */
  after?: string | null;
  /** How many are missing; null where that is not known. */
  missed: number | null;
}

export interface StateInfo {
  transport: Transport;
  /** HTTP status of the answer that led here, where the browser shows it. */
  status?: number;
  /** How long until the next attempt [ms], with "waiting". */
  wait?: number;
}

export interface Published {
  /** In the channel's history. */
  messages: number;
  /** Seconds since somebody last subscribed; -1: never. */
  requested: number;
  subscribers: number;
  last_message_id: string;
}

export interface Options {
  /** In the order of preference; one that fails makes room for the next. With a lesser one the first is tried again every ten
   *  minutes. All three. */
  transports?: Transport[];
  /** Go on behind the message with this id. Without it the route decides with what to begin. */
  lastId?: string;
  /** How long an attempt may take before the next transport is tried [ms]; more than a second, which a poll is given before it
   *  counts as open. 8000. */
  timeout?: number;
  /** How long an event stream may be silent before it is taken for dead [ms]; a poll twice as long, since browsers repeat one
   *  that was answered 408 and do not tell, and a WebSocket twice as long, since it hears of pings only when they are answered.
   *  More than the server's heartbeat, ping interval and the time it holds a poll. 65000. */
  silence?: number;
  /** The first pause before connecting again [ms]; it doubles up to 30 s, and a part is random. The server may set
   *  another (retry:), or say when to come back (Retry-After). 1000. */
  retry?: number;
  /** For fetch(): headers, credentials, mode. Not for WebSocket, which sends cookies only. */
  init?: RequestInit;
  /** Text as a string, bytes as an ArrayBuffer. */
  onmessage?(data: string | ArrayBuffer, info: MessageInfo): void;
  /** Messages that will not come, called before the first behind them. */
  ongap?(gap: Gap): void;
  onstate?(state: State, info: StateInfo): void;
}

/** A subscription to one channel. It connects by itself, and again, until close() or an answer 401, 403, 404 or 410. */
export class Push {
  constructor(url: string | URL, options?: Options);
  /** Of the last message it had. */
  id?: string;
  state?: State;
  transport?: Transport;
  /** Drops the connection and resumes at once, without waiting. */
  reconnect(): void;
  close(): void;
  /**
   * Publishes to the same address by POST. An answer 429 or 503 with Retry-After is followed by another attempt, as long as
   * `timeout` [ms] leaves time for it; 30000. Rejects with an Error whose `status` is the answer's and whose `after` says how
   * long to wait [ms], NaN where the server did not say; with a TimeoutError where there was no answer in time.
   */
  send(data: BodyInit, options?: { contentType?: string; event?: string; timeout?: number }): Promise<Published>;
}

declare global {
  /** For scripts that are no modules. */
  var Push: typeof import('./push.js').Push;
}
