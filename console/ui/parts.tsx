import type { ReactNode } from 'react'
import type { Failure } from '../api/call.ts'
import type { Shown } from './answer.ts'
import { formatAgo, formatTime, toWords } from './format.ts'

export function Time({ at }: { at: string | null }) {
  if (at === null) return <span className="quiet">—</span>
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** A coloured word. The word carries the meaning, and the colour only helps. */
export function Pill({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`pill pill-${tone}`}>{children}</span>
}

const TONES: Record<string, Tone> = {
  succeeded: 'good',
  active: 'good',
  final: 'good',
  enabled: 'good',
  online: 'good',
  pending: 'warn',
  held: 'warn',
  paused: 'warn',
  open: 'warn',
  unknown: 'warn',
  tradeDeclined: 'bad',
  tradeCountered: 'bad',
  tradeHasInvalidItems: 'bad',
  reversed: 'bad',
  dead: 'bad',
  disabled: 'bad',
}

export const Status = ({ name }: { name: string }) => (
  <Pill tone={TONES[name] ?? 'plain'}>{toWords(name)}</Pill>
)

export function Failed({ failure, refresh }: { failure: Failure; refresh?: () => void }) {
  return (
    <div className="notice notice-bad" role="alert">
      <p>{failure.message}</p>
      {refresh !== undefined && failure.kind !== 'not_found' && (
        <button type="button" className="button small" onClick={refresh}>
          Try again
        </button>
      )}
    </div>
  )
}

type LoadedProps<T> = { shown: Shown<T>; refresh: () => void; children: (data: T) => ReactNode }

/** Shows the content, or that it is loading or failed to load. If a later refresh fails, the content stays. */
export function Loaded<T>({ shown, refresh, children }: LoadedProps<T>) {
  switch (shown.kind) {
    case 'loading':
      return (
        <div className="skeleton" role="status">
          <span className="visually-hidden">Loading</span>
        </div>
      )
    case 'failed':
      return <Failed failure={shown.failure} refresh={refresh} />
    case 'ready':
      return (
        <>
          {shown.failure !== undefined && <Failed failure={shown.failure} refresh={refresh} />}
          {children(shown.data)}
        </>
      )
    default:
      return shown satisfies never
  }
}

export function Heading({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className="heading">
      <h1>{title}</h1>
      {children !== undefined && <div className="acts">{children}</div>}
    </header>
  )
}

export function Panel({ title, children, aside }: { title: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <section className="panel">
      <div className="panel-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
