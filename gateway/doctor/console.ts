/** Checks of the operators' console. Pure. */
import { counted } from '../kit/counted.ts'
import { type Finding, good, mend, notChecked } from './finding.ts'
import { tlsFinding } from './proxy.ts'

export type ConsoleAnswer =
  | { kind: 'failed'; reason: string }
  | {
      kind: 'answered'
      status: number
      /** Mode of the console whose page answered; undefined if something else answered. */
      page: 'sandbox' | 'live' | undefined
      /** Code of the console's refusal, such as `wrong_host` or `https_required`. */
      refusal: string | undefined
      certificateEndsMs: number | undefined
    }

export type ConsoleProbe = {
  url: URL
  /** Where the gateway listens for the console, and whether this machine could connect to it. */
  listener: { place: string; isThere: boolean }
  answer: ConsoleAnswer
}

type Ours = { mode: 'sandbox' | 'live'; publicUrl: URL; nowMs: number }

/** `probe`: undefined if the till has no console. */
export function consoleFindings(probe: ConsoleProbe | undefined, ours: Ours): Finding[] {
  if (probe === undefined)
    return [notChecked('console', 'there is no console: TRADETILL_CONSOLE_PORT is not set')]
  const { answer } = probe
  const tls =
    answer.kind === 'failed'
      ? notChecked('console.tls', 'the URL of the console does not answer')
      : tlsFinding('console.tls', answer.certificateEndsMs, ours.nowMs)
  return [
    reachFinding(answer, ours.mode),
    listenerFinding(probe),
    originFinding(probe.url, ours.publicUrl),
    tls,
  ]
}

function reachFinding(answer: ConsoleAnswer, mode: Ours['mode']): Finding {
  const check = 'console'
  if (answer.kind === 'failed') {
    const advice =
      'check TRADETILL_CONSOLE_URL, its DNS entry and certificate, the proxy, and that a gateway with the role console runs'
    return mend(check, `does not answer: ${answer.reason}`, advice)
  }
  const { status, page, refusal } = answer
  if (page === mode) return good(check, 'answers')
  if (page !== undefined) {
    return mend(check, `the console of a till in ${page} mode answers`, 'check TRADETILL_CONSOLE_URL')
  }
  if (refusal === 'wrong_host') {
    const advice =
      'let the proxy pass on the Host header, and check that TRADETILL_CONSOLE_URL names the same host'
    return mend(check, 'does not accept its own host name', advice)
  }
  if (refusal === 'https_required') {
    return mend(check, 'sees plain http', 'let the proxy send X-Forwarded-Proto: https')
  }
  if (status === 403) return good(check, 'refuses this machine with 403, like every stranger')
  const advice = 'let the proxy forward everything under this name to TRADETILL_CONSOLE_HOST and _PORT'
  return mend(check, `something other than a console answers, with ${status}`, advice)
}

function listenerFinding({ listener: { place, isThere }, answer }: ConsoleProbe): Finding {
  const check = 'console.listener'
  if (isThere) return good(check, `listens at ${place}`)
  const isElsewhere = answer.kind === 'answered' && answer.page !== undefined
  if (isElsewhere)
    return notChecked(check, `nothing listens at ${place} here: the gateway is on another machine`)
  const advice = 'start a gateway with the role console, or run this on the machine that has it'
  return mend(check, `nothing listens at ${place} here`, advice)
}

/** Checks that the console has its own host name. Cookies ignore ports, so all ports of a name are one site. */
function originFinding(url: URL, publicUrl: URL): Finding {
  const check = 'console.origin'
  if (url.hostname !== publicUrl.hostname) return good(check, `has its own host name, ${url.hostname}`)
  const advice = 'give the console its own host name: otherwise it is one site with the shoppers’ page'
  return mend(check, `shares the host name ${url.hostname} with the shoppers’ page`, advice)
}

export type OperatorState = { name: string; passkeys: number }

export function operatorFindings(operators: readonly OperatorState[]): Finding[] {
  const check = 'console.operators'
  if (operators.length === 0)
    return [mend(check, 'there is no operator', 'tradetill operator add NAME --role operator')]
  const withoutPasskey = operators.filter(({ passkeys }) => passkeys === 0).map(({ name }) => name)
  if (withoutPasskey.length === 0)
    return [good(check, counted(operators.length, 'operator has a passkey', 'operators have passkeys'))]
  const [first = ''] = withoutPasskey
  const verb = withoutPasskey.length === 1 ? 'has' : 'have'
  return [
    mend(check, `${withoutPasskey.join(', ')} ${verb} no passkey yet`, `tradetill operator link ${first}`),
  ]
}
