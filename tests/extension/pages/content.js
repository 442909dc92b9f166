// Asks from within somebody else's page, as connect() would.
const submission = JSON.stringify({ intent: "of a content script" });
const message = { protocol: "holdfast/1", method: "submit", args: ["reports", submission, btoa("{}")] };
chrome.runtime.sendMessage(message).then((answer) => {
  document.documentElement.dataset.answer = JSON.stringify(answer);
});
