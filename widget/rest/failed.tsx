import '../screens/message-page.css'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { useRestTexts } from '../parts/texts.ts'
import { helpIn } from '../route.ts'
import { Header } from '../screens/header.tsx'
import { Retry } from './retry.tsx'

type Props = { refusal: Refusal; flow: Flow }

/**
 * Replaces the button "Try again" if the address is wrong. Leads back to the previous site, perhaps the store, or to
 * help.
 */
function BackOrHelp() {
  const { texts, language } = useRestTexts()
  const { referrer } = document
  const isOther = /^https?:\/\//i.test(referrer) && new URL(referrer).origin !== location.origin
  return (
    <a className="button primary" href={isOther ? referrer : helpIn(language)}>
      {isOther ? texts.goBack : texts.support}
    </a>
  )
}

/** Shown in place of a deposit that failed to load. */
export function Failed(props: Props) {
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <LoadFailure {...props} />
    </>
  )
}

export function LoadFailure({ refusal: { code, isFromProxy }, flow }: Props) {
  const { texts } = useRestTexts()
  const isUnknown = code === 'deposit_not_found' || code === 'invalid_request'
  // If something answered, the shopper's connection is not to blame.
  const [title, hint] =
    code === null && !isFromProxy
      ? [texts.paymentNotLoaded, texts.paymentNotLoadedHint]
      : [texts.paymentBusy, texts.paymentBusyHint]
  return (
    <main className="message-page">
      <h1>{isUnknown ? texts.paymentNotFound : title}</h1>
      <p>{isUnknown ? texts.paymentNotFoundHint : hint}</p>
      {isUnknown ? <BackOrHelp /> : <Retry flow={flow} />}
    </main>
  )
}
