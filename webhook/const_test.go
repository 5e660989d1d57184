package webhook_test

const honest = "id=m-1&from=639171234567&to=21581&message=hunter2&timestamp=1791038663"
