import '../screens/message-page.css'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { useRest } from '../parts/texts.ts'
import { Header } from '../screens/header.tsx'

type Props = { refusal: Refusal; flow: Flow }

/** Asking again for a wrong address helps nobody. The page that led here may be the store's; help always is there. */
function BackWhereFrom() {
  const { texts } = useRest()
  const { referrer } = document
  const isOther = /^https?:\/\//i.test(referrer) && new URL(referrer).origin !== location.origin
  return (
    <a className="button primary" href={isOther ? referrer : '/help'}>
      {isOther ? texts.goBack : texts.support}
    </a>
  )
}

/** In the place of a deposit that could not be loaded. */
export function Failed(props: Props) {
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <Message {...props} />
    </>
  )
}

export function Message({ refusal: { code, isAnswered }, flow }: Props) {
  const { texts } = useRest()
  const unknown = code === 'deposit_not_found' || code === 'invalid_request'
  // Where something answered, the shopper's own connection is not to blame.
  const [title, hint] =
    code === null && !isAnswered
      ? [texts.paymentNotLoaded, texts.paymentNotLoadedHint]
      : [texts.paymentBusy, texts.paymentBusyHint]
  return (
    <main className="message-page">
      <h1>{unknown ? texts.paymentNotFound : title}</h1>
      <p>{unknown ? texts.paymentNotFoundHint : hint}</p>
      {unknown ? (
        <BackWhereFrom />
      ) : (
        <button
          type="button"
          className="button primary"
          onClick={() => flow.dispatch({ kind: 'retryPressed' })}
        >
          {texts.retry}
        </button>
      )}
    </main>
  )
}
