for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy)
      button.textContent = 'Copied'
    } catch {
      // Where the browser keeps the clipboard closed, the text is at least marked for copying by hand.
      const field = button.parentElement.querySelector('input')
      if (field === null) return
      field.focus()
      field.select()
      button.textContent = 'Now press Ctrl+C'
    }
  })
}

// A scene of the tour plays elsewhere: look again soon.
if (document.querySelector('[data-playing]') !== null) setTimeout(() => location.reload(), 700)
