/** The operators' console: whether its public address leads to it, and somebody can come in. Pure checks. */
import { type Finding, good, mend, notChecked } from './finding.ts'
import { tlsOf } from './proxy.ts'

export type ConsoleAnswer =
  | { kind: 'failed'; reason: string }
  | {
      kind: 'answered'
      status: number
      /** The page of a console of this mode or another; undefined if something else answered. */
      page: 'sandbox' | 'live' | undefined
      /** The word by which a console refuses: `wrong_host`, `https_required`. */
      refusal: string | undefined
      certificateEndsMs: number | undefined
    }

export type ConsoleProbe = {
  url: URL
  /** Where the gateway listens for it, and whether something did from here. */
  listener: { place: string; isThere: boolean }
  answer: ConsoleAnswer
}

type Ours = { mode: 'sandbox' | 'live'; publicUrl: URL; nowMs: number }

/** Undefined: there is none. */
export function consoleFindings(probe: ConsoleProbe | undefined, ours: Ours): Finding[] {
  if (probe === undefined) return [notChecked('console', 'there is none: TRADETILL_CONSOLE_PORT is not set')]
  const { answer } = probe
  const ofTls =
    answer.kind === 'failed'
      ? notChecked('console.tls', 'the address of the console does not answer')
      : tlsOf('console.tls', answer.certificateEndsMs, ours.nowMs)
  return [reachedOf(answer, ours.mode), listenerOf(probe), originOf(probe.url, ours.publicUrl), ofTls]
}

function reachedOf(answer: ConsoleAnswer, mode: Ours['mode']): Finding {
  const check = 'console'
  if (answer.kind === 'failed') {
    const advice =
      'check TRADETILL_CONSOLE_URL, its DNS entry and certificate, the proxy, and that a gateway with the role console runs'
    return mend(check, `does not answer: ${answer.reason}`, advice)
  }
  const { status, page, refusal } = answer
  if (page === mode) return good(check, 'a console answers us')
  if (page !== undefined) {
    return mend(check, `the console of a till in ${page} mode answers`, 'check TRADETILL_CONSOLE_URL')
  }
  if (refusal === 'wrong_host') {
    const advice = 'let the proxy hand on the Host header, and TRADETILL_CONSOLE_URL name the same host'
    return mend(check, 'does not take its own name', advice)
  }
  if (refusal === 'https_required') {
    return mend(check, 'sees plain http', 'let the proxy send X-Forwarded-Proto: https')
  }
  if (status === 403) return good(check, 'refuses us with 403, as it does every stranger')
  const advice = 'let the proxy hand everything under this name to TRADETILL_CONSOLE_HOST and _PORT'
  return mend(check, `something else than a console answers, with ${status}`, advice)
}

function listenerOf({ listener: { place, isThere }, answer }: ConsoleProbe): Finding {
  const check = 'console.listener'
  if (isThere) return good(check, `listens at ${place}`)
  const isBehind = answer.kind === 'answered' && answer.page !== undefined
  if (isBehind) return notChecked(check, `nothing listens at ${place} here: the gateway is another machine`)
  const advice = 'start a gateway with the role console, or run this on the machine that has it'
  return mend(check, `nothing listens at ${place} here`, advice)
}

/** Cookies go by the name alone: ports of one name are one site. */
function originOf(url: URL, publicUrl: URL): Finding {
  const check = 'console.origin'
  if (url.hostname !== publicUrl.hostname) return good(check, `has a name of its own, ${url.hostname}`)
  const advice = 'give the console a name of its own: the page of shoppers is one site with it'
  return mend(check, `shares the name ${url.hostname} with the page of shoppers`, advice)
}

export type OperatorState = { name: string; passkeys: number }

export function operatorFindings(operators: readonly OperatorState[]): Finding[] {
  const check = 'console.operators'
  if (operators.length === 0)
    return [mend(check, 'nobody may come in', 'tradetill operator add NAME --role operator')]
  const without = operators.filter(({ passkeys }) => passkeys === 0).map(({ name }) => name)
  if (without.length === 0) return [good(check, `${operators.length} may come in, each with a passkey`)]
  const [first = ''] = without
  return [mend(check, `${without.join(', ')} has no passkey yet`, `tradetill operator link ${first}`)]
}
