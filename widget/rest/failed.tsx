import '../screens/message-page.css'
import type { Flow } from '../flow/runner.ts'
import { useRest } from '../parts/texts.ts'
import { Header } from '../screens/header.tsx'

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
export function Failed({ code, flow }: { code: string | null; flow: Flow }) {
  const { texts } = useRest()
  const unknown = code === 'deposit_not_found' || code === 'invalid_request'
  // Without a code nobody refused: the server was not reached.
  const [title, hint] =
    code === null
      ? [texts.paymentNotLoaded, texts.paymentNotLoadedHint]
      : [texts.paymentBusy, texts.paymentBusyHint]
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
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
    </>
  )
}
